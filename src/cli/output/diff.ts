import prettyBytes from 'pretty-bytes';
import {categoryWords} from '../../bundle/index.js';
import {count} from '../../errors/sentence.js';
import type {ComparedBundle, DiffBundlesResult} from '../../operations/diff-bundles.js';
import type {CategoryDiff, DiffTotal, FileChange} from '../../operations/compare-contents.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundleDiffDocument} from './documents.js';
import type {Output} from './output.js';
import {htmlInMarkdown} from './sanitize.js';
import {printTable, type Column} from './table.js';

/** How many of the differences to show. `--json` has all of them. */
export interface DiffDisplay {
  readonly limit: number;
  readonly markdown: boolean;
}

/** Shows the difference between two bundles. Returns the document of `--json`. */
export function renderDiff(diff: DiffBundlesResult, {limit, markdown}: DiffDisplay, output: Output): JsonDocument {
  if (markdown) for (const line of markdownLines(diff, limit, output)) output.result(line);
  else showText(diff, limit, output);
  return {...diff} satisfies Body<BundleDiffDocument>;
}

function showText(diff: DiffBundlesResult, limit: number, output: Output): void {
  const {before, after, changes, config, total} = diff;
  const table = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]) => {
    output.result('');
    printTable(rows, columns, output);
  };
  const more = (number: number) => {
    if (number > 0) output.outcome(`${String(number)} more. Pass --limit N to show more, or --json to get all.`);
  };
  output.outcome(`before  ${describeSide(before)}`, ' '.repeat(8));
  output.outcome(`after   ${describeSide(after)}`, ' '.repeat(8));
  table([...diff.categories, {category: 'total' as const, ...total}], categoryColumns);
  if (changes.length > 0) table(changes.slice(0, limit), changeColumns);
  more(changes.length - limit);
  if (config.length > 0) output.result('');
  for (const {key, before: old, after: now} of config.slice(0, limit))
    output.outcome(`${key}: ${shownValue(old)} -> ${shownValue(now)}`);
  more(config.length - limit);
  output.result('');
  output.outcome(outcomeOf(diff));
  if (!diff.configKnown) output.outcome(notCompared);
}

/** It limits what the outcome says, so `--quiet` does not leave it out. */
const notCompared =
  'The configurations were not compared, because a v1 archive without its manifest does not contain its own.';

function describeSide({name, format, size}: ComparedBundle): string {
  return `${name} (${format}${size === undefined ? '' : ` archive of ${prettyBytes(size)}`})`;
}

function shownValue(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}

/** `The bundles differ: 1 file added, 0 removed, 2 changed, 1 setting changed; 3.2 MB to 3.5 MB (+300 kB).` */
function outcomeOf({identical, total, config}: DiffBundlesResult): string {
  const {before, after} = total;
  if (identical) return `The bundles are the same: ${count(after.files, 'file')}, ${prettyBytes(after.bytes)}.`;
  const settings = config.length === 0 ? '' : `, ${count(config.length, 'setting')} changed`;
  return `The bundles differ: ${changesOf(total)}${settings}; ${growthOf(before.bytes, after.bytes)}.`;
}

function changesOf({added, removed, changed}: DiffTotal): string {
  return `${count(added, 'file')} added, ${String(removed)} removed, ${String(changed)} changed`;
}

function growthOf(before: number, after: number): string {
  return `${prettyBytes(before)} to ${prettyBytes(after)} (${signed(after - before)})`;
}

function signed(bytes: number): string {
  return prettyBytes(bytes, {signed: true}).trim();
}

type CategoryRow = Omit<CategoryDiff, 'category'> & {readonly category: CategoryDiff['category'] | 'total'};

function categoryName(category: CategoryRow['category'] = 'unknown'): string {
  return category === 'unknown' || category === 'total' ? category : categoryWords[category];
}

const categoryColumns: readonly Column<CategoryRow>[] = [
  {name: 'category', value: ({category}) => categoryName(category)},
  {name: 'added', value: ({added}) => added},
  {name: 'removed', value: ({removed}) => removed},
  {name: 'changed', value: ({changed}) => changed},
  {name: 'before', value: ({before}) => prettyBytes(before.bytes)},
  {name: 'after', value: ({after}) => prettyBytes(after.bytes)},
  {name: 'growth', value: ({before, after}) => signed(after.bytes - before.bytes)},
];

const changeColumns: readonly Column<FileChange>[] = [
  {name: 'change', value: ({change}) => change},
  {name: 'growth', value: ({bytes}) => signed(bytes)},
  {name: 'size', value: ({before, after}) => prettyBytes((after ?? before)?.size ?? 0)},
  {name: 'path', value: (change) => describeChange(change), flexible: 'wrap'},
];

/** A path, with what changed if it is not the content. */
function describeChange({path, differs, before, after}: FileChange): string {
  const notes = [
    ...(differs.includes('link') ? [`now ${linkText(after?.linkTarget)}`] : []),
    ...(differs.includes('mode') ? [after?.executable ? 'now executable' : 'no longer executable'] : []),
    ...(differs.includes('category')
      ? [`${categoryName(before?.category)} before, now ${categoryName(after?.category)}`]
      : []),
  ];
  return notes.length === 0 ? path : `${path} (${notes.join(', ')})`;
}

function linkText(target: string | undefined): string {
  return target === undefined ? 'a file' : `a link to ${target}`;
}

/**
 * A report for a pull request. Tables are HTML, in which no Markdown is interpreted, and everything foreign is code, in
 * which no one is mentioned.
 */
function markdownLines(diff: DiffBundlesResult, limit: number, output: Output): readonly string[] {
  const {before, after, changes, config, total} = diff;
  const code = (text: string) => `<code>${htmlInMarkdown(output.clean(text))}</code>`;
  const rows: readonly CategoryRow[] = [...diff.categories, {category: 'total', ...total}];
  const more = (number: number) => (number > 0 ? ['', `And ${String(number)} more.`] : []);
  return [
    '### Bundle diff',
    '',
    `<p>${code(before.name)} to ${code(after.name)}: <strong>${htmlInMarkdown(outcomeOf(diff))}</strong></p>`,
    '',
    ...htmlTable(
      ['', 'added', 'removed', 'changed', 'before', 'after', 'growth'],
      rows.map((row) => categoryColumns.map(({value}) => htmlInMarkdown(String(value(row))))),
    ),
    ...(changes.length === 0
      ? []
      : [
          '',
          ...htmlTable(
            ['change', 'growth', 'size', 'file'],
            changes
              .slice(0, limit)
              .map((change) => changeColumns.map(({name, value}) => cell(name, String(value(change)), code))),
          ),
          ...more(changes.length - limit),
        ]),
    ...(config.length === 0
      ? []
      : [
          '',
          ...htmlTable(
            ['setting', 'before', 'after'],
            config
              .slice(0, limit)
              .map((change) => [code(change.key), code(shownValue(change.before)), code(shownValue(change.after))]),
          ),
          ...more(config.length - limit),
        ]),
    ...(diff.configKnown ? [] : ['', notCompared]),
  ];
}

function cell(name: string, text: string, code: (text: string) => string): string {
  return name === 'path' ? code(text) : htmlInMarkdown(text);
}

function htmlTable(heading: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (tag: 'th' | 'td', cells: readonly string[]) =>
    `<tr>${cells.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>`;
  return ['<table>', line('th', heading), ...rows.map((cells) => line('td', cells)), '</table>'];
}
