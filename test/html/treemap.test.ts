import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {layOut, squarify, treeOf, type Rectangle} from '../../src/html/treemap.js';

const areaOf = ({width, height}: Rectangle) => width * height;

describe('squarify', () => {
  test('divides all of the area by size, without overlaps', () => {
    const sizes = fc.array(fc.integer({min: 1, max: 1_000_000}), {minLength: 1, maxLength: 60});
    fc.assert(
      fc.property(sizes, fc.integer({min: 10, max: 1000}), fc.integer({min: 10, max: 1000}), (list, width, height) => {
        const descending = list.toSorted((a, b) => b - a);
        const places = squarify(descending, {x: 5, y: 7, width, height});
        const perByte = (width * height) / descending.reduce((sum, size) => sum + size, 0);
        for (const [at, place] of places.entries()) {
          expect(areaOf(place)).toBeCloseTo((descending[at] ?? 0) * perByte, 3);
          expect(place.x).toBeGreaterThanOrEqual(5 - 1e-6);
          expect(place.y).toBeGreaterThanOrEqual(7 - 1e-6);
          expect(place.x + place.width).toBeLessThanOrEqual(5 + width + 1e-6);
          expect(place.y + place.height).toBeLessThanOrEqual(7 + height + 1e-6);
          for (const other of places.slice(at + 1)) {
            const across = Math.min(place.x + place.width, other.x + other.width) - Math.max(place.x, other.x);
            const down = Math.min(place.y + place.height, other.y + other.height) - Math.max(place.y, other.y);
            expect(Math.min(across, down)).toBeLessThanOrEqual(1e-6);
          }
        }
      }),
      {numRuns: 100, seed: 17},
    );
  });

  test('is what the paper shows', () => {
    const places = squarify([6, 6, 4, 3, 2, 2, 1], {x: 0, y: 0, width: 6, height: 4});
    expect(places.slice(0, 3)).toEqual([
      {x: 0, y: 0, width: 3, height: 2},
      {x: 0, y: 2, width: 3, height: 2},
      {x: 3, y: 0, width: expect.closeTo(1.714, 3) as number, height: expect.closeTo(2.333, 3) as number},
    ]);
  });
});

describe('a treemap', () => {
  const options = {width: 1000, height: 600, header: 20, smallest: 0.001};
  const file = (path: string, size: number, kind = 'one') => ({path, size, kind});

  test('joins folders with a single folder, and knows what is mixed', () => {
    const tree = treeOf([file('a/b/c/one', 3), file('a/b/c/two', 1, 'other'), file('top', 5), file('folder', 0)]);
    expect(tree).toMatchObject({size: 9, files: 4, kind: 'mixed'});
    expect(tree.children?.map(({name, path, size, kind}) => ({name, path, size, kind}))).toEqual([
      {name: 'top', path: 'top', size: 5, kind: 'one'},
      {name: 'a/b/c', path: 'a/b/c', size: 4, kind: 'mixed'},
      {name: 'folder', path: 'folder', size: 0, kind: 'one'},
    ]);
  });

  test('has few cells however many files, which account for all of them', () => {
    const files = Array.from({length: 50_000}, (_, at) => file(`d${String(at % 90)}/f${String(at)}`, 1 + (at % 100)));
    const cells = layOut(treeOf([...files, file('large', 500_000)]), options);
    expect(cells.length).toBeLessThan(2000);
    const shown = cells.filter(({role}) => role !== 'folder').reduce((sum, {node}) => sum + node.files, 0);
    expect(shown).toBe(50_001);
    expect(cells.find(({node}) => node.path === 'large')?.role).toBe('file');
  });

  test('of nothing is empty', () => {
    expect(layOut(treeOf([]), options)).toEqual([]);
    expect(layOut(treeOf([file('empty', 0)]), options)).toEqual([]);
  });
});
