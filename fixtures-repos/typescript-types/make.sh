#!/bin/sh
# A cart with discounts: one commit changes an interface, a class and two functions, and one statement breaks the price.
set -eu
story=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$story/../lib.sh"
begin "$@"

put .gitignore <<'END'
/out.js
END
put erase.sed <<'END'
# Makes JavaScript of the TypeScript of this program: takes types and modifiers away.
/^export interface/,/^}/d
/^type /d
s/^export //
s/(private|readonly) //g
s/: (number|string|Item|Item\[\]|Discount|Discount\[\]|void|boolean)([,;) ={]|$)/\2/g
s/ as number//g
END
put src/cart.ts <<'END'
export interface Item {
  readonly name: string;
  cents: number;
}

export interface Discount {
  name: string;
  percent: number;
}

type Cents = number;

function rounded(value: number): number {
  return Math.floor(value);
}

export class Cart {
  private items: Item[] = [];
  private discounts: Discount[] = [];

  add(name: string, cents: number): void {
    this.items.push({ name, cents });
  }

  allow(name: string, percent: number): void {
    this.discounts.push({ name, percent });
  }

  total(): number {
    let total: number = 0;
    for (const item of this.items) {
      total += this.price(item);
    }
    return total;
  }

  private price(item: Item): number {
    const discount = this.discounts.find((one) => one.name === item.name);
    if (discount === undefined) {
      return item.cents;
    }
    return rounded(item.cents * (100 - discount.percent) / 100);
  }
}
END
put src/main.ts <<'END'
const cart = new Cart();
cart.add('tea', 250);
cart.add('cup', 995);
cart.allow('cup', 10);
console.log(cart.total());
END
put_test
commit ada 0 'Add the prices of a cart'
news bob 'Announce the first version'
for topic in vouchers currencies; do news dee "Collect wishes about $topic"; done

after src/cart.ts '  percent: number;' <<'END'
  isLast: boolean;
END
replace src/cart.ts 'add(name: string, cents: number): void {' <<'END'
  add(name: string, cents: number): void {
    if (cents < 0) {
      throw new RangeError(`${name} costs ${cents}`);
    }
END
swap src/cart.ts 'return Math.floor(value);' 'return Math.round(value);'
swap src/cart.ts 'this.discounts.push({ name, percent });' 'this.discounts.push({ name, percent, isLast: percent >= 100 });'
after src/cart.ts 'for (const item of this.items) {' <<'END'
      if (item.cents === 0) {
        continue;
      }
END
next cho 'Refuse a negative price'
news eli 'Greet the meeting in Oslo'
news bob 'Thank the contributors'
finish
