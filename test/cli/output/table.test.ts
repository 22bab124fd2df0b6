import {describe, expect, test} from 'vitest';
import {chooseColumns, renderTable, type Column} from '../../../src/cli/output/table.js';

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

  test('aligns what is two columns wide on a terminal, and cuts no character of it in half', () => {
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
    const display = {width: 31, clean: (text: string) => text};
    const more = [{id: 1, message: '修复登录错误，修复登录错误，修复登录'}, ...rows];
    const cuttable = columns.map((column) => ({...column, flexible: 'cut'}) as const);
    expect(renderTable(more, cuttable, display).map((line) => line.slice(4))).toEqual([
      'MESSAGE               TWICE',
      '修复登录错误，修...   2',
      '修复登录错误          2',
      'fix the login         4',
      'ログイン              6',
    ]);
  });
});

describe('a table on a terminal', () => {
  const now = new Date('2026-11-22T10:00:00Z');
  const clean = (text: string) => text.replace('secret-1234', '***');
  const bundles: readonly Column<{id: number; at: string; by?: string; message: string}>[] = [
    {name: 'id', value: ({id}) => id},
    {name: 'created', value: ({at}) => at, time: true},
    {name: 'by', value: ({by}) => by},
    {name: 'message', value: ({message}) => message, flexible: 'cut'},
  ];
  const rows = [
    {id: 1, at: '2026-11-22T09:56:59.123Z', by: 'ada', message: 'Show a bundle that completed'},
    {id: 22, at: '2026-11-20T09:56:59.123Z', message: 'secret-1234 is in the message of this one'},
  ];

  test('shows ages, and elsewhere times as they are', () => {
    expect(renderTable(rows, bundles, {width: 80, clean, now})).toEqual([
      'ID  CREATED     BY   MESSAGE',
      '1   3 min ago   ada  Show a bundle that completed',
      '22  2 days ago  -    *** is in the message of this one',
    ]);
    expect(renderTable(rows, bundles, {width: Infinity, clean, now})[1]).toContain('2026-11-22T09:56:59.123Z');
  });

  test('gives the message what is left, and masks secrets before it cuts', () => {
    const width = 41;
    const lines = renderTable(rows, bundles, {width, clean, now});
    expect(lines).toEqual([
      'ID  CREATED     BY   MESSAGE',
      '1   3 min ago   ada  Show a bundle tha...',
      '22  2 days ago  -    *** is in the mes...',
    ]);
    expect(Math.max(...lines.map((line) => line.length))).toBe(width);
  });

  test('leaves out what no row has before it cuts', () => {
    const nobody = rows.map(({by: _, ...row}) => row);
    expect(renderTable(nobody, bundles, {width: 45, clean, now})[0]).toBe('ID  CREATED     MESSAGE');
    expect(renderTable(nobody, bundles, {width: 80, clean, now})[0]).toBe('ID  CREATED     BY  MESSAGE');
  });

  test('that is too narrow lists the values of each thing, broken between words and after slashes', () => {
    const long = [...rows, {id: 3, at: 'never', message: '/srv/projects/storefront/build/static/chunks'}];
    expect(renderTable(long, bundles, {width: 30, clean, now})).toEqual([
      '1',
      '  created  3 min ago',
      '  by       ada',
      '  message  Show a bundle that',
      '           completed',
      '22',
      '  created  2 days ago',
      '  message  *** is in the',
      '           message of this one',
      '3',
      '  created  never',
      '  message  /srv/projects/',
      '           storefront/build/',
      '           static/chunks',
    ]);
  });

  test('moves what few rows have below them', () => {
    const settings: readonly Column<readonly [name: string, value: string, before: string]>[] = [
      {name: 'setting', value: ([name]) => name},
      {name: 'value', value: ([, value]) => value},
      {name: 'overrode', value: ([, , before]) => before, flexible: 'below'},
    ];
    const rows = [
      ['wait', 'true', ''],
      ['origin', 'https://runtime.example', 'https://other.example (mycli.config.ts)'],
    ] as const;
    expect(renderTable(rows, settings, {width: 55, clean})).toEqual([
      'SETTING  VALUE',
      'wait     true',
      'origin   https://runtime.example',
      '  overrode  https://other.example (mycli.config.ts)',
    ]);
    expect(renderTable(rows, settings, {width: 80, clean})[0]).toBe('SETTING  VALUE                    OVERRODE');
  });

  test('wraps a column whose values are needed whole', () => {
    const settings: readonly Column<readonly [string, string]>[] = [
      {name: 'setting', value: ([name]) => name},
      {name: 'value', value: ([, value]) => value, flexible: 'wrap'},
      {name: 'source', value: () => 'default'},
    ];
    const paths = [['buildDirectory', '/home/ada/projects/storefront/build']] as const;
    expect(renderTable(paths, settings, {width: 50, clean})).toEqual([
      'SETTING         VALUE                      SOURCE',
      'buildDirectory  /home/ada/projects/        default',
      '                storefront/build',
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
