"""Conditions that each object meets.

Before: Realm checks the type of a value, and nothing else: a negative price is stored, and a discount above the price.
Now: a class has limits and conditions. They are checked when a write ends, in every program that writes the file.
"""

import tempfile

import crealm


class Product(crealm.Model):
    name: str = crealm.field(min_length=1)
    price: int = crealm.field(min=0)
    discount: int = 0

    class Meta:
        checks = {"sensible discount": "discount >= 0 AND discount <= price"}


with tempfile.TemporaryDirectory() as folder, crealm.open(f"{folder}/shop.realm", schema=[Product]) as db:
    with db.write():
        tea = db.add(Product(name="tea", price=300))
    for price, discount in ((-1, 0), (300, 400), (200, 50)):
        try:
            with db.write():
                tea.price = price
                tea.discount = discount
            print(f"written: {tea.price}, discount {tea.discount}")
        except crealm.RuleBroken as error:
            print("refused:", error.message)
    with crealm.open(db.path) as other, other.write():  # A program without the class Product.
        other["Product"][0].discount = 60
    db.refresh()
    assert (tea.price, tea.discount) == (200, 60)
