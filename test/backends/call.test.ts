import {expect, test} from 'vitest';
import {callBackend} from '../../src/backends/call.js';
import {backendError} from '../../src/backends/contract.js';
import {createError} from '../../src/errors/index.js';

const backend = {name: 'acme'};

function call(thrown: unknown, signal = new AbortController().signal): Promise<never> {
  return callBackend(backend, 'uploading the bundle', signal, () => {
    throw thrown;
  });
}

test('an error of the catalogue passes as it is', async () => {
  const error = createError('ERR_SERVER', 'down');
  await expect(call(error)).rejects.toBe(error);
});

test('a plain backend error becomes one of the catalogue that names the backend', async () => {
  const error = backendError({
    code: 'ERR_FORBIDDEN',
    message: 'no entry',
    status: 403,
    suggestions: ['Ask for a key.'],
  });
  await expect(call(error)).rejects.toMatchObject({
    code: 'ERR_FORBIDDEN',
    exitCode: 4,
    status: 403,
    message: 'the acme backend: no entry',
    suggestions: ['Ask for a key.'],
  });
});

test('an unknown code of a backend error is kept in the details', async () => {
  await expect(call(backendError({code: 'ACME_QUOTA', message: 'full'}))).rejects.toMatchObject({
    code: 'ERR_BACKEND_FAILED',
    details: {backend: 'acme', backendCode: 'ACME_QUOTA'},
  });
});

test('anything else is a failure of the backend, with its cause', async () => {
  const cause = new TypeError('x is not a function');
  await expect(call(cause)).rejects.toMatchObject({
    code: 'ERR_BACKEND_FAILED',
    message: 'the acme backend failed while uploading the bundle: x is not a function',
    cause,
  });
});

test('an abort rejects with its reason, whatever the backend makes of it', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const pending = callBackend(backend, 'uploading', controller.signal, () => {
    controller.abort(reason);
    throw new Error('swallowed');
  });
  await expect(pending).rejects.toBe(reason);
});
