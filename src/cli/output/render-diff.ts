import type {ComparedBundle, DiffBundlesResult} from '../../operations/bundle-options.js';
import prettyBytes from 'pretty-bytes';
import {categoryWords} from '../../bundle/index.js';
import {count} from '../../text/sentence.js';
import type {CategoryDiff, FileChange} from '../../bundle/contents/compare-contents.js';
import type {Output} from './output.js';
import {describeMissing} from '../setup/variable-values.js';
import {printTable, type Column} from './table.js';

export function renderDiff(
  diff: DiffBundlesResult,
  {limit, markdown, target}: {readonly limit: number; readonly markdown: boolean; readonly target?: string | undefined},
  output: Output,
): DiffBundlesResult {
  const {configKnown, config, missingVariables = []} = diff;
  const summary = [
    outcomeOf(diff),
    ...(configKnown ? [] : [`${config.length > 0 ? 'Other settings' : 'The configurations'} ${notCompared}`]),
    ...(target === undefined || missingVariables.length === 0
      ? []
      : [describeMissing(missingVariables, `Target ${target}`)]),
  ];
  if (markdown) {
    for (const line of ['### Bundle diff', '', ...summary, '']) output.result(line);
    showChanges(diff, limit, indented(output));
  } else {
    showChanges(diff, limit, output);
    output.result('');
    for (const sentence of summary) output.outcome(sentence);
  }
  return diff;
}

interface Printer extends Pick<Output, 'width' | 'clean'> {
  result(line: string): void;
  outcome(sentence: string, indent?: string): void;
}

/** Prints a code block of Markdown, in which nothing is interpreted and no one is mentioned. */
function indented(output: Output): Printer {
  const result = (line: string) => output.result(line && `    ${line.replaceAll('\n', ' ')}`);
  return {width: Number.POSITIVE_INFINITY, clean: (text) => output.clean(text), result, outcome: result};
}

function showChanges(diff: DiffBundlesResult, limit: number, output: Printer): void {
  const {before, after, categories, total, changes, config} = diff;
  const more = (number: number) => {
    if (number > 0) output.outcome(`${String(number)} more. Pass --limit N to show more, or --json to get all.`);
  };
  output.outcome(`before  ${describeSide(before)}`, ' '.repeat(8));
  output.outcome(`after   ${describeSide(after)}`, ' '.repeat(8));
  output.result('');
  printTable([...categories, {category: 'total' as const, ...total}], categoryColumns, output);
  if (changes.length > 0) {
    output.result('');
    printTable(changes.slice(0, limit), changeColumns, output);
  }
  more(changes.length - limit);
  if (config.length > 0) output.result('');
  for (const {key, before: old, after: now} of config.slice(0, limit))
    output.outcome(`${key}: ${shownValue(old)} -> ${shownValue(now)}`);
  more(config.length - limit);
}

const notCompared = 'were not compared: a v1 archive without its manifest has none.';

function describeSide({name, format, size}: ComparedBundle): string {
  return `${name} (${format}${size === undefined ? '' : ` archive of ${prettyBytes(size)}`})`;
}

function shownValue(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value);
}

/** `The bundles differ: 1 file added, 0 removed, 2 changed, 1 setting changed; 3.2 MB to 3.5 MB (+300 kB).` */
function outcomeOf({identical, total, config}: DiffBundlesResult): string {
  const {added, removed, changed, before, after} = total;
  if (identical) return `The bundles are the same: ${count(after.files, 'file')}, ${prettyBytes(after.bytes)}.`;
  const files = `${count(added, 'file')} added, ${String(removed)} removed, ${String(changed)} changed`;
  const settings = config.length === 0 ? '' : `, ${count(config.length, 'setting')} changed`;
  const growth = `${prettyBytes(before.bytes)} to ${prettyBytes(after.bytes)} (${signed(after.bytes - before.bytes)})`;
  return `The bundles differ: ${files}${settings}; ${growth}.`;
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
  {name: 'path', value: (change) => describeChange(change), flexible: true},
];

function describeChange({path, differs, before, after}: FileChange): string {
  const target = after?.linkTarget;
  const texts = {
    content: '',
    link: target === undefined ? 'now a file' : `now a link to ${target}`,
    mode: after?.executable ? 'now executable' : 'no longer executable',
    category: `${categoryName(before?.category)} before, now ${categoryName(after?.category)}`,
  };
  const notes = differs.map((what) => texts[what]).filter((text) => text !== '');
  return notes.length === 0 ? path : `${path} (${notes.join(', ')})`;
}
