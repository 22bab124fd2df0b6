import {runtimeVariables} from '../../src/cli/setup/local-runtime.js';
import type {LocalRuntime} from '../../src/testing.js';

/** The variables with which the binary reaches a local runtime, over both backends. */
export function runtimeEnvironment(runtime: LocalRuntime): Readonly<Record<string, string>> {
  return {...runtimeVariables(runtime), MYCLI_POLL_INTERVAL: '0.05'};
}
