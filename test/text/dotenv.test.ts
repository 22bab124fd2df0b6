import {parseEnv} from 'node:util';
import {describe, expect, test} from 'vitest';
import {parseDotenv} from '../../src/text/dotenv.js';

describe('a dotenv file', () => {
  test.each([
    'A=1',
    'export A = two words # a comment',
    ' A=\n\n# B=2\r\nC="a # b"  # c\r\n',
    "A='p@ss#word \\n $X'",
    'KEY="-----BEGIN\nabc==\n-----END"\nB=2',
    'A="line\\nbreak"',
    'A=`back "tick" \'s\'`',
    "A=it's",
    'A.B-C=x=y=z',
  ])('is read as Node reads it, without doubts: %j', (text) => {
    const lines = parseDotenv(text);
    expect(lines.filter(({problem}) => problem !== undefined)).toEqual([]);
    expect(Object.fromEntries(lines.map(({name, value}) => [name, value]))).toEqual({...parseEnv(text)});
  });

  test.each([
    ['PW=p@ss#word', 'it has a # without a space before it'],
    ['PW=#x', 'it has a # without a space before it'],
    ['PW="""one"""', 'something follows its closing quotation mark'],
    ['PW="abc"def', 'something follows its closing quotation mark'],
    ["PW='abc'#def", 'something follows its closing quotation mark'],
    ['PW="{\\"k\\":\\"v\\"}"', 'it has an escape other than \\n in double quotes'],
    ['PW="\\"q\\"\nB=2"', 'it has an escape other than \\n in double quotes'],
    ['PW="C:\\\\new"', 'it has an escape other than \\n in double quotes'],
    ['PW="open\nB=2', 'its quotation mark is not closed'],
    ["PW='open", 'its quotation mark is not closed'],
  ])('tells of a value that parsers read differently: %j', (text, problem) => {
    expect(parseDotenv(`A=1\n\n${text}`)[1]).toMatchObject({line: 3, name: 'PW', problem});
  });

  test('tells of a line that is no assignment, and knows every name', () => {
    expect(parseDotenv('A=1\nsecret')).toMatchObject([{name: 'A'}, {line: 2, name: ''}]);
    expect(parseDotenv('__proto__=x')).toEqual([{line: 1, name: '__proto__', value: 'x', problem: undefined}]);
  });
});
