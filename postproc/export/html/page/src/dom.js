// SPDX-License-Identifier: MIT
//
// Creates elements. All text of a capture enters the page here, as text nodes: none of it is ever parsed as markup.
const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith('on'))
			node.addEventListener(name.slice(2), value);
		else
			node.setAttribute(name, value === true ? '' : value);
	}
	node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
	return node;
}

/** Creates an element; attributes that are null or false are omitted, `onclick` and the like are listeners. */
export function el(name, attributes = {}, ...children) {
	return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element in the same way. */
export function svg(name, attributes = {}, ...children) {
	return fill(document.createElementNS(SVG, name), attributes, children);
}
