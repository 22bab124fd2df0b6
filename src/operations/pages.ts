import type {HostBackend} from '../backends/host-backend.js';
import type {ListRange, ListResult} from '../backends/contract.js';
import type {ListBundlesOptions} from './bundle-options.js';
import {createError} from '../errors/index.js';
import {defaultListLimit} from '../settings/schemas.js';

/** Which part of a list a caller asks for: `limit` items (`Infinity`: all), after the first `offset`. */
export interface ListPart {
  readonly limit: number;
  readonly offset: number;
}

export const everything: ListPart = {limit: Infinity, offset: 0};

/** The largest page that servers return. */
const pageSize = 200;

/** Maximum number of pages to read, since a server could invent new ones forever, and of entries in them. */
const maxPages = 1000;
const maxEntries = maxPages * pageSize;

/** Yields the pages of a part of a list. A server that repeats a page, or ends too early or never, is an error. */
export async function* listPages<Item>(
  {limit, offset}: ListPart,
  fetchPage: (range: ListRange) => Promise<ListResult<Item>>,
  {offsetCursors}: Pick<HostBackend, 'offsetCursors'> = {},
): AsyncGenerator<ListResult<Item>, void, undefined> {
  const end = offset + limit;
  const begins = new Set<string>();
  let mayBeWhole = false;
  let position = offsetCursors ? offset : 0;
  let cursor = position > 0 ? String(position) : undefined;
  let entries = 0;
  for (let pages = 0; position < end; pages += 1) {
    if (pages === maxPages || entries > maxEntries) {
      const read = `${pages.toLocaleString('en')} pages (${String(position)} entries)`;
      const advice = 'Pass --limit and --offset to list a part';
      throw invalidList(`The list did not end after ${read}.`, advice, {offset: position});
    }
    const length = Math.min(pageSize, end - position);
    const page = await fetchPage({limit: length, cursor});
    const {total} = page;
    const [first] = page.items;
    const begin = JSON.stringify(first);
    if (first !== undefined && begins.has(begin)) {
      if (mayBeWhole) return;
      const known = `${String(position)}${total === undefined ? '' : ` of ${String(total)}`}`;
      const message = `The server ignores the offset of the list, so only the first ${known} entries can be read.`;
      throw invalidList(message, 'Pass a smaller --limit', {offset: position, total});
    }
    begins.add(begin);
    // A server that does not paginate returns the same again. One that caps pages may have more after a short one.
    mayBeWhole = page.items.length !== length && total === undefined;
    const items = page.items.slice(Math.max(0, offset - position), end - position);
    position += page.items.length;
    entries += page.items.length;
    if (page.cursor === undefined && position < Math.min(end, total ?? 0)) {
      const message = `The server reports ${String(total)} entries but returned none from offset ${String(position)}.`;
      throw invalidList(message, 'Try again', {offset: position, total});
    }
    yield {...page, items};
    if (page.cursor === undefined) return;
    cursor = page.cursor;
  }
}

export async function allItems<Item>(fetchPage: (range: ListRange) => Promise<ListResult<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const {items} of listPages(everything, fetchPage)) for (const item of items) all.push(item);
  return all;
}

function invalidList(message: string, advice: string, details: Readonly<Record<string, unknown>>): Error {
  const suggestions = [`${advice}. If you passed "latest", pass a bundle ID instead.`];
  return createError('ERR_RESPONSE_INVALID', message, {suggestions, details});
}

/** All items of `part`, newest first, and the total length of the list if the server reports it. */
export async function collectPages<Item extends {readonly createdAt?: string | undefined}>(
  part: ListPart,
  fetchPage: (range: ListRange) => Promise<ListResult<Item>>,
  backend?: Pick<HostBackend, 'offsetCursors'>,
): Promise<{readonly items: readonly Item[]; readonly total?: number | undefined}> {
  const items: Item[] = [];
  let total: number | undefined;
  for await (const page of listPages(part, fetchPage, backend)) {
    for (const item of page.items) items.push(item);
    total = page.total;
  }
  // One that does not say when it was created stays behind the one that the server lists before it.
  let last = Number.MAX_SAFE_INTEGER;
  const times = new Map(items.map((item) => [item, (last = createdTime(item) || last)]));
  return {items: items.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0)), total};
}

/** How much a server's clock may be ahead of ours, in milliseconds. */
export const clockSkewMs = 60_000;

/** An item's creation time as a comparable number; 0 if unknown. */
export function createdTime({createdAt}: {readonly createdAt?: string | undefined}): number {
  return Date.parse(createdAt ?? '') || 0;
}

export function listRange(options: Pick<ListBundlesOptions, 'limit' | 'offset'>): ListPart {
  const {limit = defaultListLimit, offset = 0} = options;
  return {limit, offset};
}
