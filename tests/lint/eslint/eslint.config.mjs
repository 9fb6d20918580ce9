// SPDX-License-Identifier: MIT
//
// The rules of eslint: its recommended ones, and RULES. Run in the top folder; its packages are in the build folder.
import {createRequire} from 'node:module';

const require = createRequire(process.argv[1]);
const {configs} = require('@eslint/js');
const globals = require('globals');

const RULES = ['array-callback-return', 'block-scoped-var', 'default-case-last', 'eqeqeq', 'guard-for-in', 'no-constructor-return', 'no-else-return',
	'no-implicit-coercion', 'no-implicit-globals', 'no-lonely-if', 'no-loop-func', 'no-self-compare', 'no-sequences', 'no-shadow', 'no-throw-literal',
	'no-unneeded-ternary', 'no-unreachable-loop', 'no-unused-expressions', 'no-useless-concat', 'no-useless-rename', 'no-useless-return', 'no-var',
	'object-shorthand', 'prefer-const', 'prefer-promise-reject-errors', 'require-atomic-updates', 'strict'];
const on = names => Object.fromEntries(names.map(name => [name, 'error']));

// Nothing in a capture is ever read as markup or as a program, and nothing leaves the page.
const PAGE_RULES = {
	...on(['no-console', 'no-eval', 'no-implied-eval', 'no-new-func', 'no-script-url']),
	'no-restricted-globals': ['error', 'fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'localStorage', 'sessionStorage'],
	'no-restricted-syntax': ['error', 'MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML|write|sendBeacon)$/]'],
};

export default [
	configs.recommended,
	{rules: {...on(RULES), 'no-use-before-define': ['error', {functions: false}]}, linterOptions: {reportUnusedDisableDirectives: 'error'}},
	{files: ['**/*.mjs'], languageOptions: {globals: globals.node}},
	{files: ['postproc/export/html/page/src/**/*.js'], rules: PAGE_RULES, languageOptions: {globals: globals.browser}},
	// Parts of these scripts run in the page that they have opened; terminal output contains control characters.
	{files: ['tests/page/*.mjs'], rules: {'no-control-regex': 'off'}, languageOptions: {globals: globals.browser}},
	{files: ['tests/export/*.js'], languageOptions: {sourceType: 'commonjs', globals: globals.node}},
];
