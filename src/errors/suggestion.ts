import {commandLine} from '../text/suggest.js';

/** A command that users are told to run: the ID of one of mycli's commands, and its arguments. */
export interface CommandToRun {
  readonly run: readonly (string | number)[];
}

/** What a user can do, in a sentence. Commands in it are data: whoever shows them decides how to spell them. */
export type Suggestion = string | readonly (string | CommandToRun)[];

/** The parts of a suggestion. */
export function partsOf(suggestion: Suggestion): readonly (string | CommandToRun)[] {
  return typeof suggestion === 'string' ? [suggestion] : suggestion;
}

/** A suggestion as text, for programs: each command is complete. */
export function suggestionText(suggestion: Suggestion): string {
  return partsOf(suggestion)
    .map((part) => (typeof part === 'string' ? part : commandLine(...part.run)))
    .join('');
}

/** Whether one of the suggestions is to run a command. */
export function advises(command: string, advice: readonly Suggestion[]): boolean {
  return advice.flatMap(partsOf).some((part) => typeof part !== 'string' && part.run[0] === command);
}

/** The advice after a request that may have been carried out. */
export const checkBeforeRetrying: Suggestion = [
  'Check before retrying: run ',
  {run: ['bundle:list']},
  ' for bundles, or ',
  {run: ['bundle:history']},
  ' for deployments.',
];

/** The advice about credentials that a server refused. */
export const refusedCredentials: Suggestion = [
  'Check that the credentials are complete, still valid and for this server. Run ',
  {run: ['config:show']},
  ' to see their source, or ',
  {run: ['auth:login']},
  ' to store others.',
];
