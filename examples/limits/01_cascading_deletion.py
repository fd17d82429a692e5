"""What is deleted together.

Before: Realm has no cascading deletion. Only embedded objects are deleted with their owner: when an order is deleted,
its lines stay behind, and a customer can be deleted while orders refer to it.
Now: a link property says what happens to the objects at both of its ends.
"""

import tempfile
from typing import Optional

import crealm


class Line(crealm.Model):
    text: str


class Customer(crealm.Model):
    name: str


class Order(crealm.Model):
    customer: Optional[Customer] = crealm.field(on_target_delete="deny")
    lines: crealm.List[Line] = crealm.field(on_delete="cascade")


with tempfile.TemporaryDirectory() as folder, crealm.open(f"{folder}/shop.realm", schema=[Order]) as db:
    with db.write():
        ann = db.add(Customer(name="Ann"))
        order = db.add(Order(customer=ann, lines=[Line(text="tea"), Line(text="milk")]))
    try:
        with db.write():
            ann.delete()
    except crealm.RuleBroken as error:
        print("refused:", error.message)
    with db.write():
        order.delete()
    print(f"{len(db[Order])} orders, {len(db[Line])} lines, {len(db[Customer])} customer")
    assert len(db[Line]) == 0 and ann.is_valid
