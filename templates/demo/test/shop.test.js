import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';
import { price } from '../src/price.js';
import { search } from '../src/search.js';

const items = [
  { name: 'Green tea', cents: 450, count: 2 },
  { name: 'Teapot', cents: 1999, count: 1 },
];

test('a cart adds up', () => {
  assert.equal(total(items), 2899);
});

test('a price names its currency', () => {
  assert.match(price(1250), /^12\.50? EUR$/);
});

test('a search finds by name and leaves the items as they are', () => {
  const before = structuredClone(items);
  assert.deepEqual(search(items, 'Teapot'), [items[1]]);
  assert.deepEqual(items, before);
});
