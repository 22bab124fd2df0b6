import {expectTypeOf} from 'expect-type';
import type {Got, OptionsInit} from 'got';
import {test} from 'vitest';
import type {HttpClient, HttpOptions} from '../../src/index.js';

// `npm run types` checks it; at run time it does nothing.
test('HttpClient is a subset of got, except that its methods may be any', () => {
  expectTypeOf<HttpOptions['method']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Omit<HttpOptions, 'method'>>().toExtend<OptionsInit>();
  expectTypeOf<Exclude<keyof HttpClient, keyof Got>>().toBeNever();
});
