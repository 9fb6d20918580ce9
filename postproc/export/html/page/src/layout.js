// SPDX-License-Identifier: MIT
//
// Measures of the timeline, in CSS pixels.
export const GUTTER = 200;
// Width of the names' column, for a timeline of this width.
export const gutterOf = width => Math.min(GUTTER, Math.round(width * 0.32));
export const AXIS = 26;
export const ROW = 22;
export const BAR = 16;
export const BAR_TOP = (ROW - BAR) / 2;
