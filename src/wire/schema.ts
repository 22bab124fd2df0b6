import * as v from 'valibot';
import {isRecord, textOrJson} from '../text/json.js';
import {atMost, maxMessage, maxPath, maxTargetName} from '../settings/schemas.js';

export {maxTargetName};

// The words that the wire is described in. Servers validate requests by these schemas and answer what they describe,
// clients read answers by them, and the OpenAPI document is generated from them. `say` completes a schema for the
// document: with a sentence for people, and with what valibot cannot express.

/** A JSON Schema, or any other part of the document. */
export type Part = Readonly<Record<string, unknown>>;

/** Marks what only hosted services send or answer, and the local runtime does not. */
export const onlyHosted = {'x-only-hosted': true};

/** Marks what only the local runtime sends or serves. */
export const onlyLocal = {'x-only-local': true};

export const say = <T>(description: string, json: Part = {}) => v.metadata<T, Part>({description, ...json});

export const object = <const Entries extends v.ObjectEntries>(description: string, entries: Entries, json?: Part) =>
  v.pipe(v.object(entries), say(description, json));

export const text = (description: string, json?: Part) => v.pipe(v.string(), say(description, json));
export const texts = (description: string, json?: Part) => v.pipe(v.array(v.string()), say(description, json));
export const flag = (description: string, json?: Part) => v.pipe(v.boolean(), say(description, json));
export const time = (description: string, json?: Part) => text(description, {format: 'date-time', ...json});
export const uri = (description: string, json?: Part) => text(description, {format: 'uri', ...json});

/** Whether a string can be a part of a path: URLs drop `.` and `..`, and cannot carry lone surrogates. */
export function isSegment(value: string): boolean {
  return value !== '' && value.length <= 256 && !/^\.{1,2}$|[\p{Cc}\p{Cs}]/u.test(value);
}

/** An ID of an answer that becomes a part of paths. One that would lead elsewhere is none. */
export const segment = (description: string, json?: Part) =>
  v.pipe(v.string(), v.check(isSegment, 'cannot be part of a path'), say(description, json));

/** A word of an answer. Clients cope with any other value. */
export const word = <const Word extends string | number>(words: readonly Word[], description: string, json?: Part) =>
  v.pipe(
    v.custom<Word>((value) => value !== undefined && value !== null),
    say(description, {type: 'string', enum: words, ...json}),
    v.transform((value): unknown => value),
  );

/** Texts of an answer. Clients show anything else as JSON. */
export const shownTexts = (description: string, json?: Part) =>
  v.pipe(
    v.array(
      v.pipe(
        v.custom<string>((value) => value !== undefined),
        v.metadata({type: 'string'}),
        v.transform((value) => textOrJson(value)),
      ),
    ),
    say(description, json),
  );

/** A member of an answer that may be missing or null. Clients read what does not fit as if it were missing. */
export function optional<Sent, Read>(schema: v.GenericSchema<Sent, Read>) {
  return v.optional(
    v.pipe(
      v.fallback(v.nullable(schema), null),
      v.transform((value): Read | undefined => value ?? undefined),
    ),
  );
}

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const message = `must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message));
}

/** A JSON object with members of `schema`. valibot's own schema accepts arrays. */
export const objectOf = <Value>(schema: v.GenericSchema<Value>, description: string, json?: Part) =>
  v.pipe(
    v.custom<Readonly<Record<string, Value>>>(
      (value) => isRecord(value) && Object.values(value).every((member) => v.is(schema, member)),
      'must be an object',
    ),
    say(description, {type: 'object', ...json}),
  );

export const message = v.pipe(
  v.string(),
  atMost(maxMessage),
  say('What the bundle contains, for people.', {maxLength: maxMessage}),
);

export const relativePath = (description: string) =>
  v.pipe(
    v.string(),
    atMost(maxPath),
    v.regex(
      /^(?!\.{1,2}(?:\/|$))[^/\\\u0000]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\u0000]+)*$/,
      'must be a relative path without "." and ".."',
    ),
    say(`${description} A relative path with \`/\` between its parts, without \`.\` and \`..\`.`, {maxLength: maxPath}),
  );

const aboutId = 'ID of a bundle. It is never reused, even after the bundle was deleted.';

/** The ID of a bundle in a request. */
export const bundleId = v.pipe(wholeNumber(0), say(aboutId));

/** The same, as some clients write it. */
export const typedBundleId = v.pipe(
  v.string(),
  v.regex(/^\d{1,15}$/, 'must be the ID of a bundle'),
  say('The same, written as a string.'),
  v.transform(Number),
);

/** The ID of a bundle in an answer. Clients also read one that is written as a string. */
export const givenBundleId = bundleIdAs(aboutId);

export function bundleIdAs(description: string, json?: Part) {
  return v.pipe(
    v.custom<number>((value) => numericId(value) !== undefined, 'is not an integer below 2^53'),
    say(description, {type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...json}),
    v.transform((value) => numericId(value) ?? value),
  );
}

/** An ID that is an integer, as a number; undefined if it is none. `01` may be the ID of something else than `1`. */
export function numericId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : undefined;
}

export const warnings = optional(shownTexts('Problems that did not stop the request. Clients show them.'));
export const total = optional(v.pipe(wholeNumber(0), say('Length of the whole list.')));
export const ssrParameters = objectOf(v.unknown(), 'Parameters of the server, such as `SSRFunctionNodeVersion`.');
export const exampleId = '0b9f6a1e-3f43-4b5e-9d0c-5a1f6f6d2c11';

/** What can be called a project or an environment of Runtime (OAuth), and a new target of either. */
export const identifier = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]+(?:-+[a-z0-9]+)*$/, 'must be lowercase letters, digits and inner hyphens'),
);

export const newTargetSlug = v.pipe(
  identifier,
  v.maxLength(maxTargetName),
  say('Its name in paths.', {maxLength: maxTargetName}),
);
export const newTargetName = v.pipe(
  v.string(),
  v.nonEmpty(),
  atMost(maxTargetName),
  say('Its name for people.', {maxLength: maxTargetName}),
);

export const variableChanges = objectOf(
  v.object({value: v.nullable(v.string())}),
  'Changes of variables by their names. `null` removes one. What is not named stays as it is.',
  {additionalProperties: {type: 'object', properties: {value: {type: ['string', 'null']}}, required: ['value']}},
);

export const pattern = v.pipe(
  v.string(),
  v.regex(/^\//, 'must start with /'),
  say('Paths that the cache drops; `*` stands for anything.', {examples: ['/*']}),
);
