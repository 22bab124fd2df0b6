import {expectTypeOf} from 'expect-type';
import type {Got, OptionsInit} from 'got';
import {describe, test} from 'vitest';
import type {
  ApiRuntimeConnection,
  AuthStrategy,
  BundleV2MatchMode,
  BundleV2Metadata,
  HttpClient,
  HttpOptions,
  PushResult,
  PushRuntimeBundleBackendOptions,
  PushV2Options,
  RateLimitMiddlewareConfig,
  RuntimeBackend,
  RuntimeBackendPreference,
} from '../../src/index.js';

/** Members of `T` that must be given. */
type RequiredKeys<T> = {[K in keyof T]-?: object extends Pick<T, K> ? never : K}[keyof T];

// `npm run types` checks these; at run time they do nothing.
describe('the option records have the fields of the interface', () => {
  test('PushRuntimeBundleBackendOptions', () => {
    type Options = PushRuntimeBundleBackendOptions;
    expectTypeOf<RequiredKeys<Options>>().toEqualTypeOf<'preference' | 'projectSlug'>();
    expectTypeOf<Options['preference']>().toEqualTypeOf<RuntimeBackendPreference>();
    expectTypeOf<Options['apiConnection']>().toEqualTypeOf<ApiRuntimeConnection | undefined>();
    expectTypeOf<Options['legacyAuth']>().toEqualTypeOf<AuthStrategy | undefined>();
    expectTypeOf<Options['projectSlug']>().toEqualTypeOf<string>();
    expectTypeOf<Options['targetSlug']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Options['message']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Record<string, unknown>>().toExtend<Options['ssrParameters']>();
    expectTypeOf<string[]>().toExtend<Options['ssrOnly']>();
    expectTypeOf<string[]>().toExtend<Options['ssrShared']>();
    expectTypeOf<Options['buildDirectory']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Options['projectDirectory']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Options['rootDir']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Options['configPath']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Options['matchMode']>().toEqualTypeOf<BundleV2MatchMode | undefined>();
    expectTypeOf<Options['v2']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<Options['origin']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Options['onFallback']>().toEqualTypeOf<((reason: string) => void) | undefined>();
    expectTypeOf<Options['onResolve']>().toEqualTypeOf<((backend: RuntimeBackend) => void) | undefined>();
  });

  test('PushV2Options', () => {
    expectTypeOf<RequiredKeys<PushV2Options>>().toEqualTypeOf<'projectSlug'>();
    expectTypeOf<PushV2Options['projectSlug']>().toEqualTypeOf<string>();
    expectTypeOf<PushV2Options['origin']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<PushV2Options['buildDirectory']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<PushV2Options['bundleMetadata']>().toEqualTypeOf<BundleV2Metadata | undefined>();
    expectTypeOf<PushV2Options['configPath']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<PushV2Options['matchMode']>().toEqualTypeOf<BundleV2MatchMode | undefined>();
    expectTypeOf<PushV2Options['message']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<PushV2Options['projectDirectory']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<PushV2Options['rootDir']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<string[]>().toExtend<PushV2Options['ssrOnly']>();
    expectTypeOf<string[]>().toExtend<PushV2Options['ssrShared']>();
    expectTypeOf<Record<string, unknown>>().toExtend<PushV2Options['ssrParameters']>();
  });

  test('RateLimitMiddlewareConfig', () => {
    type Config = RateLimitMiddlewareConfig;
    expectTypeOf<RequiredKeys<Config>>().toBeNever();
    expectTypeOf<Config['maxRetries']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Config['baseDelayMs']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Config['maxDelayMs']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<number[]>().toExtend<Config['statusCodes']>();
    expectTypeOf<Config['prefix']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Config['fetch']>().toEqualTypeOf<((request: Request) => Promise<Response>) | undefined>();
  });

  test('HttpClient is a subset of got, except that its methods may be any', () => {
    expectTypeOf<HttpOptions['method']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Omit<HttpOptions, 'method'>>().toExtend<OptionsInit>();
    expectTypeOf<Exclude<keyof HttpClient, keyof Got>>().toBeNever();
  });

  test('match modes, preferences and results', () => {
    expectTypeOf<BundleV2MatchMode>().toEqualTypeOf<'strict' | 'ignore_missing'>();
    expectTypeOf<'auto' | 'api' | 'legacy'>().toExtend<RuntimeBackendPreference>();
    expectTypeOf<PushResult['status']>().toEqualTypeOf<'queued' | 'in_progress' | 'finished' | 'failed' | undefined>();
    expectTypeOf<PushResult['archive']['files']>().toEqualTypeOf<number>();
  });
});
