import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {asSentence} from '../text/sentence.js';
import {checkBeforeRetrying} from '../errors/suggestion.js';
import {answerSchemas, loginAnswer} from './answer-schemas.js';
import {checkResult, type HostBackend} from './built-in.js';
import {backendCalls, callBackend} from './call.js';
import {unsetOptions} from './configuration.js';
import type {AnyBackend} from './contract.js';

type Member = (...given: readonly unknown[]) => Promise<unknown>;
type MemberName = keyof typeof backendCalls;

/**
 * Wraps a plugin's backend and checks its answers. One that violates the contract becomes an error that names the
 * backend and the plugin, instead of a failure somewhere in the host.
 */
export function checkedBackend(backend: AnyBackend, plugin: string): HostBackend {
  const {apiVersion, name, summary, formats, bundleIds, limits, options, required = [], secrets, secretEnv} = backend;
  const schemas: Readonly<Record<MemberName, v.GenericSchema>> = {
    ...answerSchemas,
    login: loginAnswer([...(secrets ?? []), ...(secretEnv ?? [])]),
  };
  const calls = Object.entries(schemas).flatMap(([key, schema]) => {
    const member = Reflect.get(backend, key) as Member | undefined;
    if (member === undefined) return [];
    const checked: Member = async (...given) => {
      const answer = await member.apply(backend, [...given]);
      const {issues} = v.safeParse(schema, answer);
      if (issues) throw wrongAnswer(backend, plugin, key as MemberName, issues);
      return answer;
    };
    return [[key, checked] as const];
  });
  const members = Object.fromEntries(calls) as unknown as Pick<AnyBackend, 'upload' | 'check'>;
  return {
    ...members,
    apiVersion,
    name,
    summary,
    formats,
    bundleIds,
    limits,
    options,
    required,
    secrets,
    secretEnv,
    async check(context) {
      const unset = unsetOptions(required, context.options);
      const {signal} = new AbortController();
      const checked = await callBackend(backend, backendCalls.check.doing, signal, async () =>
        members.check?.(context),
      );
      return checkResult([...unset, ...(checked?.missing ?? [])]);
    },
  };
}

/** The error for an answer that violates the contract. After a write, what was to be done may have been done. */
function wrongAnswer(
  backend: AnyBackend,
  plugin: string,
  member: MemberName,
  issues: readonly v.BaseIssue<unknown>[],
): Error {
  const problems = issues.map((issue) => [v.getDotPath(issue), issue.message].filter(Boolean).join(': '));
  const bug = `This is a bug in plugin ${plugin}. Report it to its authors.`;
  const message = asSentence(
    `The ${backend.name} backend of plugin ${plugin} returned an invalid result while ${backendCalls[member].doing}: ${problems.join('; ')}`,
  );
  const details = {backend: backend.name, plugin, problems};
  return 'writes' in backendCalls[member]
    ? createError('ERR_OUTCOME_UNKNOWN', message, {suggestions: [checkBeforeRetrying, bug], details})
    : createError('ERR_BACKEND_FAILED', message, {suggestions: [bug], details});
}
