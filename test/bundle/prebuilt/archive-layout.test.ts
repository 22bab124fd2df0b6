import {describe, expect, test} from 'vitest';
import {layoutProblem, type LayoutEntry} from '../../../src/bundle/prebuilt/archive-layout.js';

const file = (path: string): LayoutEntry => ({path, type: 'file'});
const link = (path: string, linkTarget: string): LayoutEntry => ({path, type: 'symlink', linkTarget});
const problemOf = (...entries: readonly LayoutEntry[]) => layoutProblem(entries, {root: '', mayRepeat: false});

describe('the layout of an archive', () => {
  test('accepts names with a common prefix, and folders', () => {
    const names = ['a', 'a-b/c', 'a.b', 'a b', 'aa/a', 'b/c/d', 'b/c-d'];
    expect(
      problemOf({path: 'b', type: 'directory'}, {path: 'b/c', type: 'directory'}, ...names.map(file)),
    ).toBeUndefined();
  });

  // Each of these took longer than a test may when every folder above a path was looked at by itself.
  test('may have thousands of paths with thousands of parts', () => {
    const deep = 'a/'.repeat(2000);
    expect(problemOf(...Array.from({length: 5000}, (_, index) => file(`${index}/${deep}b`)))).toBeUndefined();
  });

  test('is refused when its links take too long to follow', () => {
    const [folder, target] = ['a/'.repeat(1000), `${'a/'.repeat(900)}x`];
    const links = Array.from({length: 20_000}, (_, index) => link(`${folder}l${index}`, target));
    expect(problemOf(...links)).toMatchObject({kind: 'leads-out'});
  });
});
