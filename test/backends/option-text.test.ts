import type {StandardSchemaV1} from '@standard-schema/spec';
import fc from 'fast-check';
import * as v from 'valibot';
import {describe, expect, test} from 'vitest';
import {optionsOf} from '../../src/backends/resolve-backend.js';
import {legacyBackend} from '../../src/backends/legacy/backend.js';
import {OptionText, validateOptionTexts} from '../../src/backends/plugins/option-text.js';

const texts = (options: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, new OptionText(value)]));

async function validated(schema: StandardSchemaV1, options: Readonly<Record<string, unknown>>): Promise<unknown> {
  const result = await validateOptionTexts(schema, options);
  return result.issues ? result.issues.map(({message}) => message) : result.value;
}

const shape = v.strictObject({name: v.string(), size: v.number(), isOn: v.boolean(), tags: v.array(v.string())});

describe('the text of an option', () => {
  test('is what the schema takes it for', async () => {
    const given = texts({name: '007', size: '7', isOn: 'true', tags: '["1"]'});
    expect(await validated(shape, given)).toEqual({name: '007', size: 7, isOn: true, tags: ['1']});
  });

  test('is what it was as a value of a JSON object', async () => {
    const given = {
      name: OptionText.of('7'),
      size: OptionText.of(7),
      isOn: OptionText.of(false),
      tags: OptionText.of(['1']),
    };
    expect(await validated(shape, given)).toEqual({name: '7', size: 7, isOn: false, tags: ['1']});
    expect(await validated(v.object({either: v.unknown()}), {either: OptionText.of(7)})).toEqual({either: 7});
    expect(await validated(v.object({size: v.number()}), {size: OptionText.of('7')})).toHaveLength(1);
  });

  test('stays text where text is expected, whatever it is', async () => {
    const rest = texts({size: '0', isOn: 'false', tags: '[]'});
    const anything = fc.oneof(fc.string(), fc.json(), fc.integer().map(String), fc.double().map(String));
    await fc.assert(
      fc.asyncProperty(anything, async (name) => {
        expect(await validated(shape, {...texts({name}), ...rest})).toMatchObject({name});
      }),
      {numRuns: 200},
    );
  });

  test('is parsed only if the schema refuses it as text, in any combination of kinds', async () => {
    const kinds = {
      text: {schema: v.string(), means: (text: string) => text},
      number: {schema: v.number(), means: Number},
      either: {schema: v.union([v.string(), v.number()]), means: (text: string) => text},
      coerced: {schema: v.pipe(v.string(), v.transform(Number)), means: Number},
      any: {schema: v.unknown(), means: (text: string) => text},
    };
    type Kind = keyof typeof kinds;
    const kind = fc.constantFrom<Kind>('text', 'number', 'either', 'coerced', 'any');
    const option = fc.record({kind, value: fc.integer()});
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), option), async (options) => {
        const of = <T>(make: (one: {readonly kind: Kind; readonly value: number}) => T) =>
          Object.fromEntries(Object.entries(options).map(([name, one]) => [name, make(one)]));
        const schema = v.strictObject(of((one) => kinds[one.kind].schema));
        expect(await validated(schema, texts(of(({value}) => String(value))))).toEqual(
          of((one) => kinds[one.kind].means(String(one.value))),
        );
      }),
      {numRuns: 200},
    );
  });

  test('is parsed wherever it is JSON for a schema that only refuses the whole', async () => {
    const schema = v.union([
      v.strictObject({port: v.number(), name: v.string()}),
      v.strictObject({hosts: v.array(v.string()), retries: v.number(), name: v.string()}),
    ]);
    expect(await validated(schema, texts({port: '80', name: 'a'}))).toEqual({port: 80, name: 'a'});
    const hosts = texts({hosts: '["a"]', retries: '2', name: 'a'});
    expect(await validated(schema, hosts)).toEqual({hosts: ['a'], retries: 2, name: 'a'});
  });

  test('stays text if parsing it does not help a schema that only refuses the whole', async () => {
    const schema = v.pipe(
      v.object({name: v.string(), size: v.number()}),
      v.check(({size}) => size < 5, 'the size must be below 5'),
    );
    expect(await validated(schema, texts({name: '1', size: '7'}))).toEqual(['the size must be below 5']);
    expect(await validated(schema, texts({name: '1', size: '4'}))).toEqual({name: '1', size: 4});
  });

  test('that is refused either way is explained by what it means as JSON', async () => {
    const schema = v.object({
      size: v.pipe(v.number('must be a number'), v.minValue(0, 'must not be negative')),
      name: v.string('must be a string'),
      isOn: v.boolean('must be true or false'),
    });
    expect(await validated(schema, texts({size: '-1', name: 'x', isOn: '1'}))).toEqual([
      'must not be negative',
      'must be true or false',
    ]);
  });

  test('is never parsed if it comes with a type: from a file, or from JSON', async () => {
    const schema = v.object({size: v.number('must be a number')});
    expect(await validated(schema, {size: '7'})).toEqual(['must be a number']);
    expect(await validated(schema, {size: 7})).toEqual({size: 7});
  });

  test('stays text for a backend without a schema', async () => {
    const acme = {...legacyBackend, name: 'acme'};
    expect(await optionsOf(acme, {backendOptions: {...texts({size: '7', region: 'eu'}), retries: 3}})).toEqual({
      size: '7',
      region: 'eu',
      retries: 3,
    });
  });
});
