import * as v from 'valibot';
import {isRecord} from '../text/json.js';
import {backendApiVersion} from './host-backend.js';
import type {AnyBackend} from './contract.js';
import {backendMembers} from './members.js';

export const backendNamePattern = /^[a-z][a-z0-9-]{0,31}$/;

const calls = Object.keys(backendMembers).map((name) => {
  const member = v.function(`${name} must be a function`);
  return [name, name === 'upload' ? member : v.optional(member)] as const;
});

function texts(rule: string) {
  return v.optional(v.array(v.string(rule), rule));
}

const formatsRule = 'formats must contain v1, v2 or both';
const limitsRule = 'limits must be {maxBundleBytes, maxFiles}, positive integers';
const limit = v.optional(v.pipe(v.number(limitsRule), v.safeInteger(limitsRule), v.minValue(1, limitsRule)));
const slugsRule = 'slugs must be {project, target}, regular expressions as strings';
const pattern = v.optional(v.pipe(v.string(slugsRule), v.check(isPattern, slugsRule)));

/** The members of a backend besides its name and version, in the order in which problems are reported. */
const members: Readonly<Record<string, v.GenericSchema>> = {
  summary: v.string('summary must be a string'),
  formats: v.pipe(v.array(v.picklist(['v1', 'v2'], formatsRule), formatsRule), v.nonEmpty(formatsRule)),
  bundleIds: v.optional(v.literal('number', 'bundleIds must be "number" or absent')),
  targetSlugs: v.optional(v.literal('assigned', 'targetSlugs must be "assigned" or absent')),
  slugs: v.optional(v.looseObject({project: pattern, target: pattern}, slugsRule)),
  copiesTargets: v.optional(v.literal(false, 'copiesTargets must be false or absent')),
  offsetCursors: v.optional(v.boolean('offsetCursors must be true or false')),
  limits: v.optional(v.looseObject({maxBundleBytes: limit, maxFiles: limit}, limitsRule)),
  options: v.optional(v.custom<unknown>(isStandardSchema, 'options must be a Standard Schema')),
  required: texts('required must be an array of option names'),
  secrets: texts('secrets must be an array of option names'),
  secretEnv: texts('secretEnv must be an array of names of environment variables'),
  ...Object.fromEntries(calls),
};

/** Whether `value` has the shape of a backend of this version of the contract; never by `instanceof`. */
export function checkBackendShape(
  value: unknown,
): {readonly ok: true; readonly backend: AnyBackend} | {readonly ok: false; readonly problem: string} {
  if (!isRecord(value)) return {ok: false, problem: 'a backend must be an object'};
  const {name} = value;
  if (typeof name !== 'string' || !backendNamePattern.test(name)) {
    const problem = `the backend name ${JSON.stringify(name)} does not match ${backendNamePattern.source}`;
    return {ok: false, problem};
  }
  const problems = Object.entries(members).flatMap(
    ([member, schema]) => v.safeParse(schema, value[member]).issues ?? [],
  );
  const problem = versionProblem(value['apiVersion']) ?? problems[0]?.message;
  return problem === undefined
    ? {ok: true, backend: value as unknown as AnyBackend}
    : {ok: false, problem: `backend "${name}": ${problem}`};
}

function versionProblem(version: unknown): string | undefined {
  if (version === backendApiVersion) return undefined;
  const own = String(backendApiVersion);
  if (typeof version !== 'number') return `apiVersion must be the number ${own}, not ${JSON.stringify(version)}`;
  const remedy = version > backendApiVersion ? 'Update mycli' : 'Update the plugin';
  return `it is for version ${String(version)} of the contract, and this mycli has version ${own}. ${remedy}`;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u').unicode;
  } catch {
    return false;
  }
}

/** Some libraries' schemas are functions. */
function isStandardSchema(value: unknown): boolean {
  if (!isRecord(value) && typeof value !== 'function') return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return isRecord(standard) && typeof standard['validate'] === 'function';
}
