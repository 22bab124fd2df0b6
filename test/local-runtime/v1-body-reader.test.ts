import * as fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {V1BodyReader} from '../../src/local-runtime/upload/v1-body-reader.js';

/** Reads a document in pieces of `size` bytes. */
function read(document: string, size: number): {readonly data: Buffer; readonly rest: unknown} {
  const reader = new V1BodyReader();
  const bytes = Buffer.from(document);
  const data: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) data.push(reader.push(bytes.subarray(at, at + size)));
  return {data: Buffer.concat(data), rest: reader.end()};
}

describe('V1BodyReader', () => {
  test('finds any data in any document, in pieces of any size', () => {
    const members = fc.dictionary(
      fc.string({unit: 'grapheme'}).filter((key) => key !== 'data' && key !== '__proto__'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(members, members, fc.uint8Array(), fc.integer({min: 1, max: 40}), (before, after, data, size) => {
        const document = {...before, data: Buffer.from(data).toString('base64'), ...after};
        const found = read(JSON.stringify(document, null, size % 3), size);
        expect(found.data.equals(data)).toBe(true);
        expect(found.rest).toEqual(JSON.parse(JSON.stringify({...document, data: ''})));
      }),
      {numRuns: 300},
    );
  });

  test.each([1, 2, 3, 1000])('accepts escaped slashes, in pieces of %i', (size) => {
    const encoded = Buffer.from([255, 255, 255, 255]).toString('base64');
    expect(encoded).toContain('/');
    const document = `{"data":"${encoded.replaceAll('/', '\\/')}"}`;
    expect(read(document, size).data).toEqual(Buffer.from([255, 255, 255, 255]));
  });

  test('looks for the key only at the top level', () => {
    const document = '{"a":{"data":"###"},"b":["data","data"],"c":"data","da\\"ta":"###","data":"YQ=="}';
    expect(read(document, 5).data.toString()).toBe('a');
  });

  test.each([
    ['{"data":"YQ==","data":"YQ=="}', 'twice'],
    ['{"data":"YQ==","data":""}', 'twice'],
    ['{"data":null,"data":"YQ=="}', 'twice'],
    ['{"data":"YQ=="', 'not JSON'],
    ['{"data":"YQ==', 'not JSON'],
    ['{"data" "YQ=="}', 'not JSON'],
    ['{"message":"x"}', 'no "data"'],
    ['{"data":null}', 'no "data"'],
    ['{"data":"YQ=a"}', 'not base64'],
    ['{"data":"Y Q="}', 'not base64'],
    ['{"data":"Y-_="}', 'not base64'],
    ['{"data":"===="}', 'not base64'],
    ['{"data":"YWE"}', 'not base64'],
    ['{"data":"YQ==\\n"}', 'not base64'],
  ])('refuses %s', (document, reason) => {
    for (const size of [1, 7, 1000]) expect(() => read(document, size)).toThrow(reason);
  });

  test('reads a document with a hundred thousand keys in one pass', () => {
    const members = '"x":{"data":"YQ=="},'.repeat(100_000);
    expect(read(`{${members}"data":"YQ=="}`, 65_536).data.toString()).toBe('a');
  });

  test.each([' ', '{"a":"', '{"a"   ', '{"a":"\\"'])(
    'refuses a document that is large besides its data: %s',
    (start) => {
      const reader = new V1BodyReader();
      reader.push(Buffer.from(start));
      expect(() => {
        for (let count = 0; count < 20; count += 1) reader.push(Buffer.alloc(1024 * 1024, start.slice(-2)));
      }).toThrow('bytes besides its data');
    },
  );
});
