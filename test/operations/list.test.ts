import {describe, expect, test} from 'vitest';
import type {ListRange, ListResult} from '../../src/backends/contract.js';
import {collectPages, listRange} from '../../src/operations/pages.js';

interface Row {
  readonly createdAt: string;
}

/** A page of a list whose cursors are offsets, like those of the built-in backends. */
function pageAt(offset: number, items: readonly Row[], total?: number): ListResult<Row> {
  const next = offset + items.length;
  const isLast = items.length === 0 || next >= (total ?? Infinity);
  return {items, cursor: isLast ? undefined : String(next), total};
}

/** A list of `length` items, of which a server gives `most` at a time; the newest first. */
function server(length: number, {most = 1000, tellsTotal = true} = {}) {
  const asked: ListRange[] = [];
  const all = Array.from({length}, (_, index) => ({createdAt: new Date(1e12 - index * 1000).toISOString()}));
  const read = (offset: number, limit: number) => {
    asked.push({limit, cursor: String(offset)});
    const items = all.slice(offset, offset + Math.min(limit, most));
    return {items, total: tellsTotal ? length : undefined};
  };
  return {
    asked,
    all,
    fetchPage: async ({limit, cursor = '0'}: ListRange) => {
      const {items, total} = read(Number(cursor), limit);
      return pageAt(Number(cursor), items, total);
    },
    /** Always gives its first page. */
    ignoring: async ({limit, cursor = '0'}: ListRange) => {
      const {items, total} = read(0, limit);
      return pageAt(Number(cursor), items, total);
    },
  };
}

describe('collecting pages', () => {
  test('one request is enough for a page', async () => {
    const {fetchPage, all, asked} = server(30);
    expect(await collectPages({limit: 25, offset: 0}, fetchPage)).toEqual({items: all.slice(0, 25), total: 30});
    expect(asked).toEqual([{limit: 25, cursor: '0'}]);
  });

  test.each([
    [true, [20, 220, 420]],
    [false, [0, 200, 400]],
  ])(
    'more than servers give at a time comes in several requests, cursors are offsets: %s',
    async (offsetCursors, starts) => {
      const {fetchPage, all, asked} = server(450);
      const {items} = await collectPages({limit: 410, offset: 20}, fetchPage, {offsetCursors});
      expect(items).toEqual(all.slice(20, 430));
      expect(asked.map(({cursor}) => Number(cursor))).toEqual(starts);
    },
  );

  test('a short page is not the end when the server does not tell how many there are', async () => {
    const {fetchPage, all} = server(95, {most: 40, tellsTotal: false});
    const expected = {items: all, total: undefined};
    expect(await collectPages({limit: Infinity, offset: 0}, fetchPage)).toEqual(expected);
    expect((await collectPages({limit: 60, offset: 0}, fetchPage)).items).toEqual(all.slice(0, 60));
  });

  test('an offset behind the end gives nothing, and ends', async () => {
    const {fetchPage} = server(3);
    expect((await collectPages({limit: Infinity, offset: 10}, fetchPage)).items).toEqual([]);
  });

  test.each([true, false])(
    'a server that ignores the offset is not asked for ever, total told: %s',
    async (tellsTotal) => {
      const {ignoring, asked} = server(450, {tellsTotal});
      await expect(collectPages({limit: Infinity, offset: 0}, ignoring)).rejects.toMatchObject({
        code: 'ERR_RESPONSE_INVALID',
        exitCode: 7,
        message: expect.stringContaining('only the first 200') as string,
      });
      expect(asked).toHaveLength(2);
      expect((await collectPages({limit: 200, offset: 0}, ignoring)).items).toHaveLength(200);
    },
  );

  test.each([0, 200])(
    'rows that the server counts and does not send are missing, not absent: after %i',
    async (given) => {
      const {fetchPage} = server(450);
      const silent = async (range: ListRange) => {
        const {total, ...page} = await fetchPage(range);
        return Number(range.cursor ?? 0) < given ? {...page, total} : {items: [], total};
      };
      await expect(collectPages({limit: Infinity, offset: 0}, silent)).rejects.toMatchObject({
        code: 'ERR_RESPONSE_INVALID',
        message: `The server reports 450 entries but returned none from offset ${given}.`,
        suggestions: ['Try again. If you passed "latest", pass a bundle ID instead.'],
      });
    },
  );

  test.each([true, false])('a server that gives all at once gives all, total told: %s', async (tellsTotal) => {
    const {ignoring, all} = server(450, {tellsTotal});
    const whole = ({cursor}: ListRange) => ignoring({limit: 1000, cursor});
    expect((await collectPages({limit: Infinity, offset: 0}, whole)).items).toEqual(all);
    expect((await collectPages({limit: 10, offset: 0}, whole)).items).toEqual(all.slice(0, 10));
  });

  test('an item that moves on to the next page because a new one came is no repeated page', async () => {
    const {all} = server(202);
    let pages = 0;
    const growing = async ({limit, cursor = '0'}: ListRange) => {
      const now = pages === 0 ? all.slice(1) : all;
      pages += 1;
      return pageAt(Number(cursor), now.slice(Number(cursor), Number(cursor) + limit), now.length);
    };
    expect((await collectPages({limit: 201, offset: 0}, growing)).items).toHaveLength(201);
  });

  test('a server that makes up new rows for ever is given up after 1,000 pages', async () => {
    let asked = 0;
    const endless = async ({cursor = '0'}: ListRange) => {
      asked += 1;
      const offset = Number(cursor);
      return pageAt(offset, [{createdAt: new Date(1e12 - offset).toISOString()}], offset + 2);
    };
    await expect(collectPages({limit: Infinity, offset: 0}, endless)).rejects.toMatchObject({
      code: 'ERR_RESPONSE_INVALID',
      exitCode: 7,
      message: expect.stringContaining('1,000 pages') as string,
      suggestions: [expect.stringContaining('--limit')],
    });
    expect(asked).toBe(1000);
  });

  test('a page of 125,000 rows is read, and a server that makes up such pages for ever is given up', async () => {
    const rows = Array.from({length: 125_000}, (_, index) => ({
      createdAt: new Date(1e12 - index * 1000).toISOString(),
    }));
    const whole = await collectPages({limit: Infinity, offset: 0}, async () => ({items: rows}));
    expect(whole.items).toEqual(rows);
    const endless = async ({cursor = '0'}: ListRange) =>
      pageAt(Number(cursor), [{createdAt: cursor}, ...rows], Number(cursor) + 1_000_000);
    await expect(collectPages({limit: Infinity, offset: 0}, endless)).rejects.toMatchObject({
      message: 'The list did not end after 2 pages (250002 entries).',
    });
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
});
