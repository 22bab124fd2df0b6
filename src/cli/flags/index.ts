export {bundleFlags, pushFlags} from './bundle.js';
export {connectionFlags} from './connection.js';
export {environmentName} from './environment-name.js';
export {columnsFlag, listFlags} from './list.js';
export {outputEnvFlag} from './output-env.js';
export {rateLimitFlags} from './rate-limit.js';
export {waitFlags, waitForSlotFlag} from './wait.js';
