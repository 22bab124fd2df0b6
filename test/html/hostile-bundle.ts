import type {ContentFile} from '../../src/operations/bundle-contents.js';
import type {DiffBundlesResult} from '../../src/operations/diff-bundles.js';
import type {ArchiveInspection} from '../../src/operations/inspect-bundle.js';

/** File names that try to be something else. */
export const hostileNames = [
  '<img src=x onerror=alert(1)>.js',
  '"><script>alert(1)</script>',
  "' onload='alert(1)",
  'static/</title></svg><script>alert(1)</script>.css',
  'evil\u202Egpj.exe',
  'a\u0000b\u001B[2J\u0085c\uD800',
  '${alert(1)}&lt;b&gt;',
  'n'.repeat(4000),
  '<b>'.repeat(1333),
  Array(5000).fill('deep').join('/'),
  '__proto__/constructor/toString',
  'folder',
  'folder/inside',
  '',
];

/** What has changed in such a bundle. */
export function hostileDiff(): DiffBundlesResult {
  const state = (size: number) => ({size, sha256: 'c'.repeat(64), category: 'static' as const, executable: false});
  const total = {added: 1, removed: 1, changed: 2, before: {files: 3, bytes: 10}, after: {files: 3, bytes: 2_000_010}};
  return {
    identical: false,
    before: {name: '<script>alert(5)</script>', format: 'v2'},
    after: {name: 'after', format: 'v2'},
    changes: [
      {path: hostileNames[0] ?? '', change: 'added', bytes: 2_000_000, differs: [], after: state(2_000_000)},
      {path: hostileNames[1] ?? '', change: 'removed', bytes: -5, differs: [], before: state(5)},
      ...hostileNames.slice(2).map((path) => ({
        ...{path, change: 'changed' as const, bytes: 5, differs: ['content' as const]},
        ...{before: state(1), after: state(6)},
      })),
    ],
    total,
    categories: [{category: 'static', ...total}],
    config: [{key: 'ssrParameters.<b>', before: '</td><script>alert(6)</script>', after: undefined}],
    configKnown: true,
    warnings: [],
  };
}

/** A large build with names of people and of attackers. */
export function hostileBundle(files: number): ArchiveInspection {
  const categories = ['ssrOnly', 'shared', 'static', undefined] as const;
  const common = Array.from({length: files}, (_, at): ContentFile => ({
    path: `app/part-${String(at % 37)}/group-${String(at % 11)}/chunk-${String(at)}.js`,
    size: (at * 7919) % 50_021,
    category: categories[at % 4],
    executable: false,
  }));
  const hostile = hostileNames.map((path, at): ContentFile => ({
    ...{path, size: 1_000_000 + 50_000 * at, category: 'static', executable: false},
    linkTarget: at === 0 ? '"><script>alert(2)</script>' : undefined,
  }));
  const config = {ssrOnly: ['<x>'], ssrShared: ['**'], ssrParameters: {note: '</pre><script>alert(3)</script>'}};
  return {
    format: 'v2',
    size: 5_000_000,
    sha256: 'a'.repeat(64),
    contentSha256: 'b'.repeat(64),
    rootDir: '<root>',
    configPath: '"config"',
    config,
    matches: {ssrOnly: [{pattern: '<x>', files: 1}], ssrShared: [{pattern: '**', files}]},
    files: [...common, ...hostile],
    problems: ['<script>alert(4)</script>'],
  };
}
