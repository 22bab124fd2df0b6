import type {StandardSchemaV1} from '@standard-schema/spec';
import {createError} from '../errors/index.js';
import {asSentence} from '../text/sentence.js';
import {checkBeforeRetrying} from '../errors/suggestion.js';
import {checkResult, type HostBackend} from './host-backend.js';
import {callBackend} from './call.js';
import {describeIssue, unsetOptions} from './resolve-backend.js';
import type {AnyBackend, BackendContext, BackendLoginContext, Environment} from './contract.js';
import {backendMembers, type MemberName, type MemberRow} from './members.js';
import {isBuiltIn} from './names.js';
import {runningPlugin} from './plugin-code.js';

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

/** A context with what its contract names, and nothing else of the host. No environment variable can be enumerated. */
function contractContext(member: MemberName, context: AnyContext): AnyContext {
  const {env = {}, logger, bodies} = context;
  const own: AnyContext = {
    ...context,
    env: Object.create(env) as Environment,
    ...(logger && {
      logger: {
        debug: (message: string) => logger.debug(message),
        info: (message: string) => logger.info(message),
        warn: (message: string) => logger.warn(message),
      },
    }),
    ...(bodies && {bodies: {multipart: bodies.multipart, file: bodies.file}}),
  };
  const members = contextMembers[member] ?? operationMembers;
  return Object.fromEntries(members.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]])));
}

/**
 * Wraps a plugin's backend and checks its answers. One that violates the contract becomes an error that names the
 * backend and the plugin, instead of a failure somewhere in the host.
 */
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
  const {required = []} = backend;
  return {
    ...members,
    plugin,
    apiVersion: backend.apiVersion,
    name: backend.name,
    summary: backend.summary,
    formats: backend.formats,
    bundleIds: backend.bundleIds,
    targetSlugs: backend.targetSlugs,
    slugs: backend.slugs,
    copiesTargets: backend.copiesTargets,
    offsetCursors: backend.offsetCursors,
    limits: backend.limits,
    options: backend.options,
    required,
    secrets: backend.secrets,
    secretEnv: backend.secretEnv,
    async check(context) {
      const unset = unsetOptions(required, context.options);
      const call = async () => members.check?.(context);
      const checked = await callBackend(backend, backendMembers.check.doing, undefined, call);
      return checkResult([...unset, ...(checked?.missing ?? [])]);
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
