import {createError} from '../../errors/index.js';
import type {Output} from '../output/output.js';
import type {CheckResult} from './checks.js';

type Marks = Readonly<Record<CheckResult['status'], string>>;
const unicodeMarks: Marks = {ok: '✔', warning: '⚠', failed: '✖', skipped: '-'};
const asciiMarks: Marks = {ok: 'ok  ', warning: 'warn', failed: 'FAIL', skipped: '-   '};

/**
 * Prints a line for each check, followed by its suggestions.
 * @throws RuntimeCliError `ERR_CHECK_FAILED` when one has failed.
 */
export function reportChecks(
  checks: readonly CheckResult[],
  output: Pick<Output, 'json' | 'unicode' | 'outcome'>,
): void {
  const marks = output.unicode ? unicodeMarks : asciiMarks;
  const width = Math.max(...checks.map(({name}) => name.length));
  for (const {name, status, message, suggestions} of checks) {
    const indent = ' '.repeat(marks[status].length + width + 3);
    output.outcome(`${marks[status]} ${name.padEnd(width)}  ${message}`, indent);
    for (const suggestion of suggestions) output.outcome(`${indent}${suggestion}`, indent);
  }
  const broken = checks.filter(({status}) => status === 'failed');
  if (broken.length === 0) return;
  throw createError('ERR_CHECK_FAILED', `${String(broken.length)} of ${String(checks.length)} checks failed.`, {
    // Users have read them below each check.
    suggestions: output.json ? broken.flatMap(({suggestions}) => suggestions) : [],
    details: {checks},
  });
}
