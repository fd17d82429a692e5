"""Names longer than 57 and 63 bytes.

Before: Realm refuses a class whose name has more than 57 bytes, and a property with more than 63. Code that is made
from another schema shortens its names, and hopes that no two become the same.
Now: names have up to 255 bytes. Realm's libraries open the file too, and show such a name shortened.
"""

import tempfile

import crealm


class ObservationOfTheTemperatureOfTheGroundBelowTheStationInTheNorth(crealm.Model):
    degrees_of_the_sensor_that_is_ten_centimetres_below_the_surface_of_the_ground: float
    degrees_of_the_sensor_that_is_ten_centimetres_below_the_surface_of_the_water: float = crealm.field(min=-2)


Observation = ObservationOfTheTemperatureOfTheGroundBelowTheStationInTheNorth

with tempfile.TemporaryDirectory() as folder, crealm.open(f"{folder}/weather.realm", schema=[Observation]) as db:
    with db.write():
        db[Observation].create(
            degrees_of_the_sensor_that_is_ten_centimetres_below_the_surface_of_the_ground=4.5,
            degrees_of_the_sensor_that_is_ten_centimetres_below_the_surface_of_the_water=6.0,
        )
    names = [*db.classes, *db.schema[Observation.__name__].properties]
    print("bytes of the names:", *map(len, names))
    ground, water = names[1:]
    found = db[Observation].where(f"{ground} < 5 AND {water} > 5")
    assert len(found) == 1 and len(names[0]) > 57 and min(map(len, names[1:])) > 63
    print(f"{len(found)} cold day")
