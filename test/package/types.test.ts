import {expectTypeOf} from 'expect-type';
import type {Got, OptionsInit} from 'got';
import {test} from 'vitest';
import type {BackendContext} from '../../src/backends/contract.js';
import type {HttpClient, HttpOptions} from '../../src/index.js';

// `npm run types` checks it; at run time it does nothing.
test('HttpClient is a subset of got, except that its methods may be any', () => {
  expectTypeOf<HttpOptions['method']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Omit<HttpOptions, 'method'>>().toExtend<OptionsInit>();
  expectTypeOf<Exclude<keyof HttpClient, keyof Got>>().toBeNever();
});

test('openStream() takes the headers that any request takes', () => {
  type Options = NonNullable<Parameters<BackendContext['openStream']>[1]>;
  expectTypeOf<Options['headers']>().toEqualTypeOf<HttpOptions['headers']>();
});
