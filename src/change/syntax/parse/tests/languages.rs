//! For each language a text with every kind of unit.

use super::*;

#[test]
fn units_of_rust_are_found_with_their_names() {
    let text = r#"#![warn(missing_docs)]
use std::collections::HashMap;
extern crate libc;

/// A box.
#[derive(Debug)]
pub struct Cube {
    /// Its side.
    #[serde(default)]
    pub side: u32,
    name: String,
}
struct Pair(u8, u8);
union Bits { n: u32, f: f32 }
enum Shape {
    Point,
    #[allow(unused)]
    Round { radius: u32 },
}
type Sides = Vec<u32>;
const SIDES: [(u8, &str); 2] = [
    (1, "one"),
    (2, "two"),
];
static COUNT: u32 = 1;
trait Area {
    type Unit;
    const N: u32;
    fn area(&self) -> u32;
    fn twice(&self) -> u32 { self.area() * 2 }
}
impl<T> Area for Holder<T> {
    fn area(&self) -> u32 { 0 }
}
impl Cube {
    #[inline]
    #[must_use]
    pub(crate) async fn new(side: u32, mut name: String) -> Self {
        let Some(n) = find(side) else {
            return Self { side: 0, name };
        };
        #[cfg(unix)]
        let n = n + 1;
        if n > 1 {
            work(n);
        } else if let Some(x) = maybe() {
            drop(x);
        } else {
            loop { break; }
        }
        for i in 0..n { println!("{i}"); }
        match side {
            0 => one(),
            #[cold]
            1 | 2 if n > 2 => {
                two();
            }
            _ => {}
        }
        unsafe { trust(n) };
        Self {
            side: n,
            name,
            ..Default::default()
        }
    }
}
mod inner {
    pub fn f() -> bool {
        if done() { return true; }
        vec![1].iter().any(|x| {
            let y = *x;
            y > 0
        })
    }
}
extern "C" { fn abs(n: i32) -> i32; }
macro_rules! twice {
    ($e:expr) => { $e * 2 };
    () => { 0 };
}
thread_local! { static X: u8 = 1; }
#[cfg(test)]
mod tests {
    #[test]
    fn works() {
        assert_eq!(1, 1);
    }
}
"#;
    insta::assert_snapshot!(units("rust", text));
}

#[test]
fn units_of_go_are_found_with_their_names() {
    let text = r#"// Package box is for boxes.
package box

import "errors"
import (
	"fmt"
	str "strings"
)

const Max = 3
const (
	Red = iota
	Green
)

var errNo = errors.New("no")
var (
	a, b = 1, 2
	c    int
)

// Box has sides.
type Box struct {
	Side int `json:"side"`
	io.Reader
	x, y int
}
type (
	Name  string
	Alias = int
)
type Shape interface {
	Area() int
	fmt.Stringer
}
type Num interface{ ~int | ~float64 }

// Area gives the area.
func (b *Box) Area(n int, rest ...string) (r int, err error) {
	const k = 2
	var x int
	y := n + 1
	x, y = y, x
	x++
	if v, ok := m[n]; ok {
		x = v
	} else if n > 2 {
		return 1, nil
	} else {
		x--
	}
	for i := 0; i < n; i++ {
		if i == 2 {
			continue
		}
	}
outer:
	for _, s := range rest {
		switch {
		case s == "a", s == "b":
			break outer
		default:
			fallthrough
		}
	}
	switch t := any(x).(type) {
	case int:
		_ = t
	}
	select {
	case v := <-ch:
		ch <- v
	default:
	}
	go func() {
		defer done()
		work()
	}()
	goto end
end:
	return
}

func Map[T any](xs []T, f func(T) T) []T {
	return nil
}

var tests = []struct{ in, out string }{
	{"a", "b"},
	{in: "c", out: "d"},
}
var table = map[string]int{
	"a": 1,
	"b": 2,
}
"#;
    insta::assert_snapshot!(units("go", text));
}

#[test]
fn units_of_javascript_are_found_with_their_names() {
    let text = r#"#!/usr/bin/env node
'use strict';
import fs, { readFile } from 'fs';
import * as path from 'path';
const os = require('os');
var later;
const { one, two } = require('./names');
const SIDES = {
  a: 1,
  'b-c': 2,
  one,
  ...rest,
  get size() { return 1; },
  grow(n) { return n; },
  shrink: (n) => n - 1,
};
/** Gives the area. */
function area(shape, unit = 'm', ...rest) {
  let total = 0, n;
  if (shape) {
    total += `${shape.n} and ${rest}`;
  } else if (n) {
    throw new Error('x');
  } else {
    return;
  }
  for (let i = 0; i < 3; i++) { total++; }
  for (const x of rest) { continue; }
  while (n--) total--;
  do { n++; } while (n < 3);
  switch (n) {
    case 1: total = 1; break;
    default: { total = 2; }
  }
  try { work(); } catch (e) { log(e); } finally { done(); }
  outer: for (;;) break outer;
  return rest.map((x) => {
    debugger;
    return x;
  });
}
async function* many() { yield 1; }
const twice = (x) => x * 2;
exports.half = function (x) { return x / 2; };
Box.prototype.open = function () {};
module.exports = { area, twice };
class Box extends Shape {
  static #count = 0;
  size = 1;
  onClick = () => { this.size++; };
  static { init(); }
  constructor(n) { super(n); }
  #secret() {}
  get side() { return 1; }
}
export function shown() {}
export default class Round {}
export const LIMIT = 3, other = 4;
export const grow = async (x) => x;
export { area as size };
export * from './more';
(function () {
  function hidden() { return 1; }
})();
describe('box', () => {
  it('opens', () => { check(1); });
});
const view = (
  <ul className="x">
    <li key={1}>a</li>
    <Item />
    {list}
  </ul>
);
"#;
    insta::assert_snapshot!(units("javascript", text));
}

#[test]
fn units_of_typescript_are_found_with_their_names() {
    let text = r"import type { Shape } from './shape';
import fs = require('fs');
import B = a.b.C;
export type Name = string | number;
export interface Box<T> extends Shape {
  readonly side: number;
  name?: string;
  open(key: string): void;
  [key: string]: unknown;
  (n: number): T;
  new (n: number): Box<T>;
}
enum Colour {
  Red,
  Green = 2,
}
declare const VERSION: string;
declare module 'foo' { export function f(): void; }
declare global { interface Window { x: number } }
namespace Inner { export const a = 1; }
export namespace Outer.Deep { }
function f(a: number): number;
function f(a: string): string;
function f(a: any, b?: number): any { return a as any; }
@Component({ selector: 'x' })
export class View<T> implements Box<T> {
  @Input() name: string = '';
  private static n: number = 1;
  onClick = (e: Event): void => { this.n++; };
  constructor(private readonly shape: Shape, @Inject(X) x?: string) { }
  @HostListener('click')
  @Other()
  handle<U extends T>(this: View<T>, event: U): asserts event is U {
    const n = <const T,>(x: T) => x;
    for (const k in event) { use(k!); }
    return;
  }
  get size(): number { return 1; }
}
export abstract class Base {
  abstract area(): number;
  protected abstract sides: number;
}
export default function main(): void {}
export const enum Small { A }
export declare function g(x: number): void;
export abstract class Only { }
type Obj = { a: string; b(): void };
";
    insta::assert_snapshot!(units("typescript", text));
}

#[test]
fn units_of_typescript_with_markup_are_found_with_their_names() {
    let text = r#"import React from 'react';
export const View: React.FC<Props> = ({ name }) => {
  const [n, set] = useState<number>(0);
  return (
    <div id="x" {...rest}>
      <b onClick={() => { set(n + 1); }}>{name}</b>
      <Item<string> key="a" />
    </div>
  );
};
"#;
    insta::assert_snapshot!(units("tsx", text));
}

#[test]
fn units_of_cpp_are_found_with_their_names() {
    let text = r#"#include <vector>
#define MAX(a) (a)
namespace box::inner {
using std::vector;
using Sides = vector<int>;
namespace fs = std::filesystem;
static_assert(sizeof(int) == 4, "size");
enum class Colour : char { Red, Green = 2 };
class Later;
template <typename T> class Other;
/// A box.
template <typename T, int N = 3>
class Box final : public Shape, private Lid {
public:
  Box() = default;
  explicit Box(int n, T t = T{});
  Box(const Box &) = delete;
  ~Box();
  virtual int area() const = 0;
  int &side() { return side_; }
  const T *data() const noexcept override { return data_; }
  Box &operator=(const Box &other);
  operator bool() const { return true; }
  template <class U> U as() const { return U(side_); }
  static constexpr int kMax = 3;
  friend class Lid;
  friend bool operator==(const Box &a, const Box &b) { return true; }
  struct Key { int n; };
  using value_type = T;
private:
  int side_ = 0, other_;
  std::vector<int> list_;
  T &ref_;
};
template <typename T> Box<T>::Box(int n, T t) : side_(n), list_{1, 2} { init(); }
int Box<int>::area() const {
  auto f = [this](int x) { return x; };
  for (const auto &x : list_) {
    if (auto it = find(x); it != end()) {
      use(x);
    } else {
      throw std::runtime_error("x");
    }
  }
  try {
    work();
  } catch (const std::exception &e) {
    log(e);
  } catch (...) {
    std::cout << "x" << std::endl;
  }
  switch (n) { case 1: break; default: return 2; }
  std::vector<int> v(3);
  auto &[a, b] = pair;
  delete v;
  return 0;
}
Box<int>::~Box() {}
std::ostream &operator<<(std::ostream &out, const Box<int> &box) { return out; }
const std::string &name(int n) { return names[n]; }
int Box<int>::count = 0;
template <> struct Hash<Key> { int n; };
template <typename T> concept Small = sizeof(T) < 4;
template int max<int>(int a, int b);
template <typename T> T max(T a, T b);
static const std::vector<int> table = {1, 2};
} // namespace box::inner
namespace {
int hidden(void) { return 1; }
}
extern "C" {
void from_c(int n);
}
"#;
    insta::assert_snapshot!(units("cpp", text));
}

/// The kind and lines of the nodes that are units, and of the tokens that they begin with.
fn beginnings(language: &str, text: &str) -> Vec<(&'static str, Range<u32>, String)> {
    let tree = Language::named(language).unwrap().parse(text.as_bytes()).unwrap();
    let units = tree.units().filter(|(_, class)| *class != UnitClass::Parameter);
    let shown = units.map(|(id, _)| {
        let (node, first) = (tree.node(id), tree.node(tree.tokens(id).next().unwrap()));
        assert_eq!(first.bytes.start, node.bytes.start);
        (node.kind, node.lines.clone(), text[first.bytes.clone()].to_owned())
    });
    shown.collect()
}

#[test]
fn an_attribute_is_a_part_of_what_stands_after_it() {
    let text = "#[a]\n// why\n#[b(1)]\nfn f() {\n    #[c]\n    let x = 1;\n}\nstruct S;\n#[d]\n";
    let expected = [("function_item", 0..7, "#"), ("let_declaration", 4..6, "#"), ("struct_item", 7..8, "struct")];
    assert_eq!(beginnings("rust", text), expected.map(|(kind, lines, first)| (kind, lines, first.to_owned())));
}

#[test]
fn what_a_part_declares_the_unit_around_it_declares_once() {
    let tree = Language::named("javascript").unwrap().parse(b"export function f() {}\nexport class A {}\n").unwrap();
    let declaring = tree.nodes().iter().filter(|node| node.class.is_some() || node.declared.is_some());
    let shown: Vec<_> = declaring.map(|node| (node.kind, node.class, node.declared.is_some())).collect();
    let unit = |class| ("export_statement", Some(class), true);
    assert_eq!(shown, [unit(UnitClass::Definition), unit(UnitClass::Declaration)]);
}
