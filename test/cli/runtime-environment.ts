import type {LocalRuntime} from '../../src/testing/index.js';

/** The variables with which the binary reaches a local runtime, over both backends. */
export function runtimeEnvironment({origin, credentials}: LocalRuntime): Readonly<Record<string, string>> {
  return {
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: credentials.apiKey,
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: credentials.organizationId,
    MYCLI_TOKEN_URL: credentials.tokenUrl,
    MYCLI_CLIENT_ID: credentials.clientId,
    MYCLI_CLIENT_SECRET: credentials.clientSecret,
    MYCLI_POLL_INTERVAL: '0.05',
  };
}
