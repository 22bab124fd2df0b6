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

function fieldsOf(fields: Fields, service: Service) {
  return Object.entries(fields).flatMap(([name, {schema, summary, forms, ...names}]) => {
    const sent = names[service];
    const form = forms?.[service];
    return sent === undefined ? [] : [{name, sent, form, schema: v.pipe(form?.schema ?? schema, say(summary))}];
  });
}

/** The members of an answer that has these fields. */
export function answeredFields(fields: Fields, service: Service): FieldEntries {
  return Object.fromEntries(fieldsOf(fields, service).map(({sent, schema}) => [sent, optional(schema)]));
}

/** The members of a request that changes some of these fields. null: as if it had never been set. */
export function requestedFields(fields: Fields, service: Service): FieldEntries {
  return Object.fromEntries(fieldsOf(fields, service).map(({sent, schema}) => [sent, v.optional(v.nullable(schema))]));
}

/** Values of the configuration, as a service takes them. What it does not have is left out. */
export function toWire(fields: Fields, service: Service, values: Values): Values {
  const members = fieldsOf(fields, service).map(({name, sent, form}) => member(sent, values[name], form?.toWire));
  return Object.fromEntries(members.flat());
}

/** What a service has answered, as the configuration has it. What it does not say is left out. */
export function fromWire(fields: Fields, service: Service, answer: Values): Values {
  const members = fieldsOf(fields, service).map(({name, sent, form}) => member(name, answer[sent], form?.fromWire));
  return Object.fromEntries(members.flat());
}

function member(name: string, value: unknown, convert: ((value: unknown) => unknown) | undefined) {
  if (value === undefined) return [];
  return [[name, value === null || convert === undefined ? value : convert(value)] as const];
}
