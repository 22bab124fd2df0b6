import {maxMessage} from '../../settings/schemas.js';

/** A JSON Schema, or any other part of the document. */
export type Part = Readonly<Record<string, unknown>>;

/** Marks what only hosted services send or answer, and the local runtime does not. */
export const onlyHosted = {'x-only-hosted': true};

/** Marks what only the local runtime sends or serves. */
export const onlyLocal = {'x-only-local': true};

/** A reference to a component. */
export const ref = (kind: 'schemas' | 'parameters' | 'headers' | 'responses', name: string): Part => ({
  $ref: `#/components/${kind}/${name}`,
});

/** A member that may be null, and that a server may leave out. */
export const optional = (schema: Part & {readonly type: string}): Part => ({...schema, type: [schema.type, 'null']});

/** A string. */
export const text = (description: string, more: Part = {}) => ({type: 'string', description, ...more});

/** A point in time. */
export const time = (description: string) => text(description, {format: 'date-time'});

/** A list of strings. */
export const texts = (description: string) => ({type: 'array', description, items: {type: 'string'}});

/** A bundle, in any body. */
export const bundleId = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'ID of a bundle. It is never reused, even after the bundle was deleted.',
};

/** What users say about a bundle. */
export const message = text('What the bundle contains, for people.', {maxLength: maxMessage});

/** What an accepted request may be answered with in addition. */
export const warnings = optional({
  ...texts('Problems that did not stop the request. Clients show them.'),
});
