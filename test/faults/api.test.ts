import {apiRequests} from './requests.js';
import {testMatrix} from './test-matrix.js';

testMatrix(apiRequests);
