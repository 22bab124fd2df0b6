import {describe, expect, test} from 'vitest';
import type {ListRange} from '../../src/backends/contract.js';
import {collectPages, listRange} from '../../src/operations/list-pages.js';

/** A list of `length` items, of which a server gives `most` at a time; the newest first. */
function server(length: number, {most = 1000, tellsTotal = true} = {}) {
  const asked: ListRange[] = [];
  const all = Array.from({length}, (_, index) => ({createdAt: new Date(1e12 - index * 1000).toISOString()}));
  return {
    asked,
    all,
    fetchPage: async (range: ListRange) => {
      asked.push(range);
      const items = all.slice(range.offset, range.offset + Math.min(range.limit, most));
      return {items, total: tellsTotal ? length : undefined, raw: {}};
    },
  };
}

describe('collecting pages', () => {
  test('one request is enough for a page', async () => {
    const {fetchPage, all, asked} = server(30);
    expect(await collectPages({limit: 25, offset: 0}, fetchPage)).toEqual({items: all.slice(0, 25), total: 30});
    expect(asked).toEqual([{limit: 25, offset: 0}]);
  });

  test('more than servers give at a time comes in several requests', async () => {
    const {fetchPage, all, asked} = server(450);
    const {items} = await collectPages({limit: 410, offset: 20}, fetchPage);
    expect(items).toEqual(all.slice(20, 430));
    expect(asked).toEqual([
      {limit: 200, offset: 20},
      {limit: 200, offset: 220},
      {limit: 10, offset: 420},
    ]);
  });

  test('all are found when the server gives fewer at a time than it is asked for', async () => {
    const {fetchPage, all} = server(95, {most: 40});
    expect((await collectPages({limit: Infinity, offset: 0}, fetchPage)).items).toEqual(all);
  });

  test('a short page is the last one when the server does not tell how many there are', async () => {
    const {fetchPage, all, asked} = server(230, {tellsTotal: false});
    expect(await collectPages({limit: Infinity, offset: 0}, fetchPage)).toEqual({items: all, total: undefined});
    expect(asked).toHaveLength(2);
  });

  test('an offset behind the end gives nothing, and ends', async () => {
    const {fetchPage} = server(3);
    expect((await collectPages({limit: Infinity, offset: 10}, fetchPage)).items).toEqual([]);
  });

  test('items are put in order, the newest first', async () => {
    const {fetchPage, all} = server(5);
    const backwards = async (range: ListRange) => {
      const page = await fetchPage(range);
      return {...page, items: page.items.toReversed()};
    };
    expect((await collectPages({limit: 25, offset: 0}, backwards)).items).toEqual(all);
  });
});

describe('a range', () => {
  test('is 25 from the start by default', () => {
    expect(listRange({})).toEqual({limit: 25, offset: 0});
  });

  test.each([{limit: 0}, {limit: 1.5}, {limit: NaN}, {offset: -1}, {offset: Infinity}])('refuses %j', (range) => {
    expect(() => listRange(range)).toThrow(expect.objectContaining({code: 'ERR_OPTION_INVALID'}));
  });
});
