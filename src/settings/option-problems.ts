import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {asSentence} from '../errors/sentence.js';
import {definitions, type SettingKey} from './definitions.js';
import {fieldProblems, slug} from './schemas.js';
import type {OptionProblem} from './types.js';

/** What is wrong with the options that settings of these names describe. Those that are not given are fine. */
export function optionProblems(
  options: {readonly [K in SettingKey]?: unknown},
  keys: readonly SettingKey[],
): readonly OptionProblem[] {
  return keys.flatMap((option) =>
    options[option] === undefined ? [] : problemsOf(option, options[option], definitions[option].schema),
  );
}

/** What is wrong with a slug. Slugs become parts of URLs and prefixes in archives. */
export function slugProblems(option: string, value: string): readonly OptionProblem[] {
  return problemsOf(option, value, slug);
}

export function problemsOf(option: string, value: unknown, schema: v.GenericSchema): readonly OptionProblem[] {
  const {issues = []} = v.safeParse(schema, value);
  return fieldProblems(issues).map(({field, message}) => ({
    option: field === '' ? option : `${option}.${field}`,
    message,
  }));
}

/** Throws one error for all problems, if there are any: `ERR_PATTERN_INVALID` if only patterns are invalid. */
export function rejectProblems(problems: readonly OptionProblem[]): void {
  if (problems.length === 0) return;
  const onlyPatterns = problems.every(({option}) => /^ssr(?:Only|Shared)\b/.test(option));
  throw createError(
    onlyPatterns ? 'ERR_PATTERN_INVALID' : 'ERR_OPTION_INVALID',
    asSentence(problems.map(({option, message}) => `${option} ${message}`).join('; ')),
    {
      suggestions: problems.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion])),
      details: {problems},
    },
  );
}
