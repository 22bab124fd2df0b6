import {describe, expect, test} from 'vitest';
import {chooseColumns, renderTable, type Column} from '../../../src/cli/render/table.js';

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

  test('is lines of plain text, whatever the values hold', () => {
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
    const display = {width: 12, clean: (text: string) => text};
    expect(renderTable(rows, columns, display)).toEqual(['ID  MESSA...', '1   修复...', '2   fix t...', '3   ログ...']);
  });

  test('is cut to the width of a terminal', () => {
    const display = {width: 10, clean: (text: string) => text.replace('secret-1234', '***')};
    expect(renderTable([{id: 1, message: 'a long message'}], columns, display)).toEqual(['ID  MES...', '1   a l...']);
    expect(renderTable([{id: 1, message: 'secret-1234'}], columns, display)).toEqual(['ID  MES...', '1   ***...']);
  });
});

describe('--columns', () => {
  test('chooses and orders; without it the extra ones are left out', () => {
    expect(chooseColumns(columns, 'twice, ID').map(({name}) => name)).toEqual(['twice', 'id']);
    expect(chooseColumns(columns).map(({name}) => name)).toEqual(['id', 'message']);
  });

  test.each(['mesage', '', 'id,,message'])('refuses "%s", and tells which there are', (names) => {
    expect(() => chooseColumns(columns, names)).toThrow(
      expect.objectContaining({
        code: 'ERR_USAGE',
        suggestions: expect.arrayContaining([expect.stringContaining('id, message, twice')]) as string[],
      }),
    );
  });
});
