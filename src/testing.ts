export {backendConformance} from './conformance/backend-conformance.js';
export type {ConformanceCase, ConformanceFixtures, ConformanceService} from './conformance/fixtures.js';
export {parseFault, routeNames, type FaultRule, type FaultScope, type RouteName} from './local-runtime/faults.js';
export type {
  LocalRuntime,
  LocalRuntimeCredentials,
  LocalRuntimeOptions,
  RequestRecord,
} from './local-runtime/runtime-options.js';
export {startLocalRuntime} from './local-runtime/start-local-runtime.js';
