import type {StandardSchemaV1} from '@standard-schema/spec';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {checkBeforeRetrying} from '../../errors/suggestion.js';
import {asRecord, isRecord} from '../../text/json.js';
import {asSentence} from '../../text/sentence.js';
import {callBackend} from '../call.js';
import type {AnyBackend, BackendContext, BackendLoginContext, Environment} from '../contract.js';
import {backendApiVersion, checkResult, type HostBackend} from '../host-backend.js';
import {createRedactor, maskingLogger} from '../../http/redact.js';
import {backendMembers, type MemberName, type MemberRow} from '../members.js';
import {isBuiltIn} from '../names.js';
import {describeIssue, secretsOf, unsetOptions} from '../resolve-backend.js';
import {runningPlugin} from './plugin-code.js';

export const backendNamePattern = /^[a-z][a-z0-9-]{0,31}$/;

function texts(rule: string) {
  return v.optional(v.array(v.string(rule), rule));
}

const formatsRule = 'formats must contain v1, v2 or both';
const limitsRule = 'limits must be {maxBundleBytes, maxFiles}, positive integers';
const limit = v.optional(v.pipe(v.number(limitsRule), v.safeInteger(limitsRule), v.minValue(1, limitsRule)));
const slugsRule = 'slugs must be {project, target}, regular expressions as strings';
const pattern = v.optional(v.pipe(v.string(slugsRule), v.check(isPattern, slugsRule)));

/** What a backend says of itself, besides its name and version, in the order in which problems are reported. */
const facts = {
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
};

const factNames = ['apiVersion', 'name', ...(Object.keys(facts) as (keyof typeof facts)[])] as const;

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
  const calls = Object.keys(backendMembers).map((member) => {
    const call = v.function(`${member} must be a function`);
    return [member, member === 'upload' ? call : v.optional(call)] as const;
  });
  const [issue] = [...Object.entries(facts), ...calls].flatMap(
    ([member, schema]) => v.safeParse(schema, value[member]).issues ?? [],
  );
  const problem = versionProblem(value['apiVersion']) ?? issue?.message;
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

type Member = (...given: readonly unknown[]) => Promise<unknown>;

type AnyContext = Partial<BackendContext & BackendLoginContext>;

const checking = ['options', 'configDirectory', 'env', 'logger', 'projectSlug', 'targetSlug'] as const;
const asking = [...checking, 'http', 'error', 'waitToRetry', 'timeouts', 'signal', 'maskSecret'] as const;
/** What the contexts have in the contract. Other functions than these get that of every operation. */
const contextMembers: {readonly [Name in MemberName]?: readonly (keyof AnyContext)[]} = {
  check: checking,
  verify: asking,
  login: [...asking, 'prompt', 'openUrl'],
};
const operationMembers = [...asking, 'bodies', 'openStream', 'state', 'onAbort', 'onProgress'] as const;

/** Variables that are read by name. Nothing lists them: neither `for...in` nor a dump. */
function unlisted(env: Environment): Environment {
  return new Proxy<Environment>(
    {},
    {get: (_, name) => Reflect.get(env, name) as string, has: (_, name) => name in env},
  );
}

/** A context with what its contract names, and nothing else of the host. */
function contractContext(member: MemberName, context: AnyContext): AnyContext {
  const {env = {}, logger, bodies} = context;
  const own: AnyContext = {
    ...context,
    env: unlisted(env),
    ...(logger && {logger: maskingLogger(logger, String)}),
    ...(bodies && {bodies: {multipart: bodies.multipart, file: bodies.file}}),
  };
  const members = contextMembers[member] ?? operationMembers;
  return Object.fromEntries(members.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])));
}

/** A plugin's backend that checks its answers: one that violates the contract is an error that names the plugin. */
export function checkedBackend(backend: AnyBackend, plugin: string): HostBackend {
  const check = async (answer: unknown, schema: StandardSchemaV1, row: MemberRow) => {
    const result = await schema['~standard'].validate(answer);
    if (result.issues) throw wrongAnswer(backend, plugin, row, result.issues);
    return result.value;
  };
  async function* checkedPieces(pieces: AsyncIterable<unknown>, schema: StandardSchemaV1, row: MemberRow) {
    for await (const piece of pieces) yield await check(piece, schema, row);
  }
  const calls = Object.entries(backendMembers).flatMap(([key, row]) => {
    const member = Reflect.get(backend, key) as Member | undefined;
    if (member === undefined) return [];
    const schema = typeof row.answer === 'function' ? row.answer(backend) : row.answer;
    const checked: Member = async (...given) => {
      // The conformance suite checks the built-in ones, too, which get more.
      const context = given.at(-1) as AnyContext;
      const own = isBuiltIn(backend.name) ? context : contractContext(key as MemberName, context);
      const called = () => member.apply(backend, [...given.slice(0, -1), own]);
      const answer = await check(await runningPlugin.run(plugin, called), schema, row);
      return row.piece === undefined ? answer : checkedPieces(answer as AsyncIterable<unknown>, row.piece, row);
    };
    return [[key, checked] as const];
  });
  const members = Object.fromEntries(calls) as unknown as Pick<AnyBackend, 'upload' | 'check'>;
  const facts = Object.fromEntries(factNames.map((name) => [name, backend[name]])) as unknown as AnyBackend;
  const {required = []} = backend;
  return {
    ...facts,
    ...members,
    plugin,
    required,
    async check(context) {
      const unset = unsetOptions(required, context.options);
      const secrets = secretsOf(backend, {backendOptions: asRecord(context.options)}, context.env);
      const redact = createRedactor(secrets);
      const call = async () => members.check?.({...context, logger: maskingLogger(context.logger, redact)});
      const checked = await callBackend(backend, backendMembers.check.doing, undefined, call, secrets);
      return checkResult([...unset, ...(checked?.missing ?? []).map((what) => redact(what))]);
    },
  };
}

/** The error for an answer that violates the contract. After a write, what was to be done may have been done. */
function wrongAnswer(
  backend: AnyBackend,
  plugin: string,
  {doing, effect}: MemberRow,
  issues: readonly StandardSchemaV1.Issue[],
): Error {
  const problems = issues.map(describeIssue);
  const bug = `This is a bug in plugin ${plugin}. Report it to its authors.`;
  const message = asSentence(
    `The ${backend.name} backend of plugin ${plugin} returned an invalid result while ${doing}: ${problems.join('; ')}`,
  );
  const details = {backend: backend.name, plugin, problems};
  return effect === 'writes'
    ? createError('ERR_OUTCOME_UNKNOWN', message, {suggestions: [checkBeforeRetrying, bug], details})
    : createError('ERR_BACKEND_FAILED', message, {suggestions: [bug], details});
}
