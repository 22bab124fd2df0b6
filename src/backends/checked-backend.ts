import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {isRecord} from '../errors/json.js';
import {asSentence} from '../errors/sentence.js';
import {placeFlags} from '../errors/suggest.js';
import type {CommandToRun, Suggestion} from '../errors/suggestion.js';
import {answerSchemas, loginAnswer} from './answer-schemas.js';
import {backendCalls, callBackend, pluginTimeoutMs, withTimeout} from './call.js';
import type {HostBackend} from './built-in.js';
import type {AnyBackend} from './contract.js';

type Member = (...given: readonly unknown[]) => Promise<unknown>;
type MemberName = keyof typeof backendCalls;

/** Calls after which something may have changed, and the member that lists what there is. */
const writes: Readonly<Partial<Record<MemberName, {readonly lists: keyof AnyBackend; readonly look: string}>>> = {
  upload: {lists: 'listBundles', look: 'bundle:list'},
  deploy: {lists: 'listDeployments', look: 'bundle:history'},
  promote: {lists: 'listDeployments', look: 'bundle:history'},
};

/**
 * Wraps a plugin's backend and checks its answers. One that violates the contract becomes an error that names the
 * backend and the plugin, instead of a failure somewhere in the host. Its metadata is copied, so it cannot change
 * later.
 */
export function checkedBackend(backend: AnyBackend, plugin: string): HostBackend {
  const schemas: Readonly<Record<MemberName, v.GenericSchema>> = {
    ...answerSchemas,
    login: loginAnswer([...(backend.secrets ?? []), ...(backend.secretEnv ?? [])]),
  };
  const calls = Object.entries(schemas).flatMap(([key, schema]) => {
    const name = key as MemberName;
    const member = Reflect.get(backend, name) as Member | undefined;
    if (member === undefined) return [];
    const checked: Member = async (...given) => {
      const answer = await member.apply(backend, [...given]);
      const {issues} = v.safeParse(schema, answer);
      if (issues) throw wrongAnswer(backend, plugin, {name, issues, given});
      return answer;
    };
    return [[name, checked] as const];
  });
  const members = Object.fromEntries(calls) as unknown as Pick<AnyBackend, 'upload' | 'check'>;
  const required = [...(backend.required ?? [])];
  return {
    ...members,
    apiVersion: backend.apiVersion,
    name: backend.name,
    summary: backend.summary,
    formats: [...backend.formats],
    bundleIds: backend.bundleIds,
    required,
    limits: backend.limits && {...backend.limits},
    secrets: backend.secrets && [...backend.secrets],
    secretEnv: backend.secretEnv && [...backend.secretEnv],
    options: checkedOptions(backend),
    check: (context) =>
      withoutNetwork(backend, backendCalls.check.doing, async () => {
        const options = isRecord(context.options) ? context.options : {};
        const unset = required.filter((name) => [undefined, null, ''].includes(options[name] as undefined));
        const missing = [...unset, ...((await members.check?.(context))?.missing ?? [])];
        return missing.length === 0 ? {configured: true} : {configured: false, missing};
      }),
  };
}

/** A plugin's schema. It may throw where it should report issues. */
function checkedOptions(backend: AnyBackend): AnyBackend['options'] {
  const standard = backend.options?.['~standard'];
  if (!standard) return undefined;
  const validate: typeof standard.validate = (value) =>
    withoutNetwork(backend, 'checking its options', async () => standard.validate(value));
  return {'~standard': {version: 1, vendor: standard.vendor, validate}};
}

/** Calls something that needs no network. It is never aborted, but must not keep the command waiting either. */
function withoutNetwork<Result>(backend: AnyBackend, doing: string, call: () => Promise<Result>): Promise<Result> {
  const {signal} = new AbortController();
  return callBackend(backend, doing, signal, () => withTimeout(call(), pluginTimeoutMs, signal));
}

/** The error for an answer that violates the contract. After a write, what was to be done may have been done. */
function wrongAnswer(
  backend: AnyBackend,
  plugin: string,
  call: {
    readonly name: MemberName;
    readonly issues: readonly v.BaseIssue<unknown>[];
    readonly given: readonly unknown[];
  },
): Error {
  const problems = call.issues.map((issue) => [v.getDotPath(issue), issue.message].filter(Boolean).join(': '));
  const {doing} = backendCalls[call.name];
  const bug = `This is a bug in plugin ${plugin}. Report it to its authors.`;
  const message = `The ${backend.name} backend of plugin ${plugin} returned an invalid result while ${doing}: ${problems.join('; ')}`;
  const details = {backend: backend.name, plugin, problems};
  const write = writes[call.name];
  if (write === undefined) {
    return createError('ERR_BACKEND_FAILED', asSentence(message), {suggestions: [bug], details});
  }
  const look: readonly Suggestion[] =
    Reflect.get(backend, write.lists) === undefined
      ? ['It may have been carried out. Check on the service before retrying.']
      : ['It may have been carried out. Check before retrying:', [lookCommand(backend, write.look, call.given)]];
  return createError('ERR_OUTCOME_UNKNOWN', asSentence(message), {suggestions: [...look, bug], details});
}

/** The command that shows whether a write was carried out. */
function lookCommand({name}: AnyBackend, command: string, [request, context]: readonly unknown[]): CommandToRun {
  const {projectSlug, targetSlug} = isRecord(context) ? context : {};
  const target = isRecord(request) ? (request['targetSlug'] ?? request['to'] ?? targetSlug) : targetSlug;
  const place = {
    projectSlug: typeof projectSlug === 'string' ? projectSlug : undefined,
    targetSlug: command === 'bundle:history' && typeof target === 'string' ? target : undefined,
    backend: name,
  };
  return {run: [command, ...placeFlags(place)]};
}
