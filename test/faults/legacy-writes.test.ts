import {legacyWrites} from './requests.js';
import {testMatrix} from './test-matrix.js';

testMatrix(legacyWrites);
