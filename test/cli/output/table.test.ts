import {describe, expect, test} from 'vitest';
import {chooseColumns, printTable, type Column} from '../../../src/cli/output/table.js';
import {targetColumns} from '../../../src/cli/output/render-targets.js';
import {sanitize} from '../../../src/cli/output/terminal.js';

/** What a terminal of this width shows. */
function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  {width = Number.POSITIVE_INFINITY, clean = sanitize} = {},
): readonly string[] {
  const lines: string[] = [];
  printTable(rows, columns, {width, clean, result: (line) => lines.push(line)});
  return lines;
}

interface Row {
  readonly id: number;
  readonly message?: string;
}

const columns: readonly Column<Row>[] = [
  {name: 'id', value: ({id}) => id},
  {name: 'message', value: ({message}) => message},
  {name: 'twice', value: ({id}) => id * 2, extra: true},
];

describe('a table', () => {
  test('is aligned, with a dash where there is no value and nothing at the end of lines', () => {
    expect(renderTable([{id: 7, message: 'seven'}, {id: 1000}], columns)).toEqual([
      'ID    MESSAGE  TWICE',
      '7     seven    14',
      '1000  -        2000',
    ]);
  });

  test('is lines of plain text, whatever the values contain', () => {
    const [, line] = renderTable([{id: 1, message: '\u001B[31mred\u001B[0m\n1  ready\ttab\u202E'}], columns);
    expect(line).toBe('1   red 1 ready tab  2');
  });

  test('counts accents and emoji as people do', () => {
    const rows = [
      {id: 1, message: 'e\u0301te\u0301'},
      {id: 2, message: 'abc'},
    ];
    expect(renderTable(rows, columns).map((line) => line.at(-1))).toEqual(['E', '2', '4']);
    expect(renderTable(rows, columns).at(2)).toBe('2   abc      4');
  });

  test('aligns what is two columns wide on a terminal, and breaks no character of it in half', () => {
    const rows = [
      {id: 1, message: '修复登录错误'},
      {id: 2, message: 'fix the login'},
      {id: 3, message: 'ログイン'},
    ];
    expect(renderTable(rows, columns)).toEqual([
      'ID  MESSAGE        TWICE',
      '1   修复登录错误   2',
      '2   fix the login  4',
      '3   ログイン       6',
    ]);
    const more = [{id: 1, message: '修复登录错误，修复登录错误，修复登录'}, ...rows];
    const wrapped = columns.map((column) => ({...column, flexible: true}) as const);
    expect(renderTable(more, wrapped, {width: 31}).map((line) => line.slice(4))).toEqual([
      'MESSAGE               TWICE',
      '修复登录错误，修复登  2',
      '录错误，修复登录',
      '修复登录错误          2',
      'fix the login         4',
      'ログイン              6',
    ]);
  });
});

describe('a table on a terminal', () => {
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const clean = (text: string) => text.replace('secret-1234', '***');
  const bundles: readonly Column<{id: number; at: string; by?: string; message: string}>[] = [
    {name: 'id', value: ({id}) => id},
    {name: 'created', value: ({at}) => at, time: true},
    {name: 'by', value: ({by}) => by},
    {name: 'message', value: ({message}) => message, flexible: true},
  ];
  const rows = [
    {id: 1, at: ago(3.5 * 60_000), by: 'ada', message: 'Show a bundle that completed'},
    {id: 22, at: ago(50 * 3_600_000), message: 'secret-1234 is in the message of this one'},
  ];

  test('cuts no URL of a target', () => {
    const [targetSlug, url] = ['preview-search-1a2b3c', 'https://preview-search-1a2b3c--shop.example.com/'];
    const target = {targetSlug, state: 'ready', production: false, createdAt: ago(60_000), url} as const;
    expect(renderTable([target], chooseColumns(targetColumns), {width: 80})).toContain(`  url: ${url}`);
  });

  test('shows ages, and elsewhere times as they are', () => {
    expect(renderTable(rows, bundles, {width: 80, clean})).toEqual([
      'ID  CREATED        BY   MESSAGE',
      '1   3 minutes ago  ada  Show a bundle that completed',
      '22  2 days ago     -    *** is in the message of this one',
    ]);
    expect(renderTable(rows, bundles, {width: Infinity, clean})[1]).toContain(rows[0]?.at);
  });

  test('wraps the message in what is left, and masks secrets before', () => {
    const width = 44;
    const lines = renderTable(rows, bundles, {width, clean});
    expect(lines).toEqual([
      'ID  CREATED        BY   MESSAGE',
      '1   3 minutes ago  ada  Show a bundle that',
      '                        completed',
      '22  2 days ago     -    *** is in the',
      '                        message of this one',
    ]);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  test('that is too narrow lists the values of each thing, with whole words', () => {
    expect(renderTable(rows, bundles, {width: 30, clean})).toEqual([
      '1',
      '  created: 3 minutes ago',
      '  by: ada',
      '  message: Show a bundle that',
      '    completed',
      '22',
      '  created: 2 days ago',
      '  message: *** is in the',
      '    message of this one',
    ]);
  });

  test('wraps a column whose values are needed whole', () => {
    const settings: readonly Column<readonly [string, string]>[] = [
      {name: 'setting', value: ([name]) => name},
      {name: 'value', value: ([, value]) => value, flexible: true},
      {name: 'source', value: () => 'default'},
    ];
    const paths = [['buildDirectory', '/home/ada/projects/storefront/build']] as const;
    expect(renderTable(paths, settings, {width: 50, clean})).toEqual([
      'SETTING         VALUE                      SOURCE',
      'buildDirectory  /home/ada/projects/storef  default',
      '                ront/build',
    ]);
  });
});

describe('--columns', () => {
  test('chooses and orders; without it the extra ones are left out', () => {
    expect(chooseColumns(columns, 'twice, ID').map(({name}) => name)).toEqual(['twice', 'id']);
    expect(chooseColumns(columns).map(({name}) => name)).toEqual(['id', 'message']);
  });

  test.each(['mesage', '', 'id,,message'])('refuses "%s", and lists the known ones', (names) => {
    expect(() => chooseColumns(columns, names)).toThrow(
      expect.objectContaining({
        code: 'ERR_USAGE',
        suggestions: expect.arrayContaining([expect.stringContaining('id, message, twice')]) as string[],
      }),
    );
  });
});
