import * as v from 'valibot';
import type {WireField} from '../settings/target-settings.js';
import {optional, say} from './schema.js';

// Both services have the same things in their own words. What each is called where, and how it is written there, is in
// the table of fields.

export type Service = 'legacy' | 'api';
type Fields = Readonly<Record<string, WireField>>;
type Values = Readonly<Record<string, unknown>>;

/** Entries of a schema, whose names TypeScript need not know: the values are read and written by the table. */
type FieldEntries = Readonly<Record<never, v.GenericSchema>>;

function entriesOf(
  fields: Fields,
  service: Service,
  entry: (schema: v.GenericSchema, summary: string) => v.GenericSchema,
): FieldEntries {
  const entries = Object.values(fields).flatMap(({schema, summary, forms, ...names}) => {
    const name = names[service];
    return name === undefined ? [] : [[name, entry(forms?.[service]?.schema ?? schema, summary)] as const];
  });
  return Object.fromEntries(entries);
}

/** The members of an answer that has these fields. */
export function answeredFields(fields: Fields, service: Service): FieldEntries {
  return entriesOf(fields, service, (schema, summary) => optional(v.pipe(schema, say(summary))));
}

/** The members of a request that changes some of these fields. null: as if it had never been set. */
export function requestedFields(fields: Fields, service: Service): FieldEntries {
  return entriesOf(fields, service, (schema, summary) => v.optional(v.nullable(v.pipe(schema, say(summary)))));
}

/** Values of the configuration, as a service takes them. What it does not have is left out. */
export function toWire(fields: Fields, service: Service, values: Values): Values {
  return convert(fields, values, (name, {forms, ...names}) => [name, names[service], forms?.[service]?.toWire]);
}

/** What a service has answered, as the configuration has it. What it does not say is left out. */
export function fromWire(fields: Fields, service: Service, answer: Values): Values {
  return convert(fields, answer, (name, {forms, ...names}) => [names[service], name, forms?.[service]?.fromWire]);
}

function convert(
  fields: Fields,
  values: Values,
  names: (
    name: string,
    field: WireField,
  ) => readonly [from: string | undefined, to: string | undefined, form: ((value: unknown) => unknown) | undefined],
): Values {
  const entries = Object.entries(fields).flatMap(([name, field]) => {
    const [from, to, form] = names(name, field);
    const value = from === undefined ? undefined : values[from];
    if (to === undefined || value === undefined) return [];
    return [[to, value === null || form === undefined ? value : form(value)] as const];
  });
  return Object.fromEntries(entries);
}
