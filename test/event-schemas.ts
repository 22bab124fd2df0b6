import {readFileSync} from 'node:fs';
import {Ajv2020} from 'ajv/dist/2020.js';
import {expect} from 'vitest';
import type {RuntimeEvent} from '../src/operations/events.js';

const ajv = new Ajv2020({allErrors: true, allowUnionTypes: true});
const validatorOf = (name: string) => {
  const schema = new URL(`../dist/schemas/${name}.schema.json`, import.meta.url);
  return ajv.compile<RuntimeEvent>(JSON.parse(readFileSync(schema, 'utf8')) as object);
};
const validateAny = validatorOf('event');
const validators = new Map(
  ['step', 'progress', 'wait', 'warning', 'outcome'].map((type) => [type, validatorOf(`event-${type}`)]),
);

/** Events as the schema of their type and that of any event have them, consecutive, the only outcome last. */
export function checkedEvents(events: readonly unknown[]): readonly RuntimeEvent[] {
  const checked = events.map((event, at) => {
    const value: unknown = JSON.parse(JSON.stringify(event));
    if (!validateAny(value)) throw new Error(`${JSON.stringify(value)}: ${ajv.errorsText(validateAny.errors)}`);
    const validate = validators.get(value.type);
    expect(validate?.(value), JSON.stringify(validate?.errors)).toBe(true);
    expect(value.sequence).toBe(at + 1);
    expect(new Date(value.time).toISOString()).toBe(value.time);
    return value;
  });
  expect(checked.map(({type}) => type).indexOf('outcome')).toBe(checked.length - 1);
  return checked;
}

/** The events of NDJSON text, in which every line is complete. */
export function eventsOf(text: string): readonly RuntimeEvent[] {
  expect(text.at(-1)).toBe('\n');
  return checkedEvents(
    text
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line)),
  );
}
