import {describe, expect, test} from 'vitest';
import {asOwnError, reportOf, usageError, type OclifError} from '../../../src/cli/command/error-report.js';
import {createError} from '../../../src/errors/index.js';
import {collectOutput} from '../collect-output.js';

function oclifError(message: string, fields: object = {}): OclifError {
  return Object.assign(new Error(message), {oclif: {exit: 2}}, fields);
}

const reported = (error: unknown) => reportOf(asOwnError(error), collectOutput().output);

describe('the report of an error', () => {
  test('an error without more to say has no more fields', () => {
    expect(reported(createError('ERR_NETWORK', 'Nobody answered.'))).toEqual({
      code: 'ERR_NETWORK',
      message: 'Nobody answered.',
      exitCode: 6,
      suggestions: [],
    });
  });

  test.each(['text', 7, undefined, null, {message: 'no error'}])('%j thrown is a bug of exit code 1', (thrown) => {
    expect(reported(thrown)).toMatchObject({code: 'ERR_UNEXPECTED', exitCode: 1});
  });

  test('of an oclif error the configuration and the arguments that hang on it are left out', () => {
    const error = oclifError('Unexpected argument: x\nSee more help with --help', {
      args: ['x'],
      parse: {input: {argv: ['--api-key', 'canary'], context: {config: {}}}},
    });
    expect(reported(error)).toEqual({
      code: 'ERR_USAGE',
      message: 'Unexpected argument: x',
      exitCode: 2,
      suggestions: ['Run mycli --help for usage.'],
    });
  });

  test('a command of a plugin keeps the exit code that it chose', () => {
    const error = oclifError('It went wrong', {oclif: {exit: 5}});
    expect(reported(error)).toEqual({code: 'ERR_UNEXPECTED', message: 'It went wrong', exitCode: 5, suggestions: []});
  });
});

describe('usageError', () => {
  test('a secret on the command line of a login leads to the prompt and stdin', () => {
    const error = oclifError('Nonexistent flag: --api-key', {flags: ['--api-key', '@key.txt']});
    expect(usageError(error, 'auth:login').suggestions[0]).toBe(
      'A login reads the secret from a prompt, or from stdin: mycli auth:login < FILE',
    );
  });

  test('what stands after = of an unknown flag is not repeated', () => {
    const error = oclifError('Nonexistent flag: --client-secrets=canary', {flags: ['--client-secrets=canary', '-x']});
    expect(usageError(error).message).toBe('Unknown flags: --client-secrets, -x');
  });
});
