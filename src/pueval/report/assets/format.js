"use strict";

// Numbers as text.
const format = (() => {
  // A measure with fixed decimals; a dash if it is undefined.
  function number(value, digits = 3) {
    if (value === null || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size >= 1000) return count(Number(value.toPrecision(3)));
    // Small numbers get two significant digits.
    if (size > 1e-9 && size < 0.01) return significant(value, 2);
    const text = size < 10 ? value.toFixed(digits) : value.toFixed(size < 100 ? 1 : 0);
    return text.replace(/^-/, Number(text) === 0 ? "" : "−");
  }

  // After a negative number, a dash would look like a minus.
  const span = (low, high) => `${number(low)}${low < 0 ? " to " : "–"}${number(high)}`;

  // A number of rows; corrected numbers may be fractional.
  function count(value) {
    const whole = Math.abs(value) >= 100 || Math.abs(value - Math.round(value)) < 1e-9;
    const digits = whole ? 0 : 1;
    const text = Math.abs(value).toLocaleString("en-US", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    return value < 0 && Number(text.replace(/,/g, "")) !== 0 ? `−${text}` : text;
  }

  // A number with some significant digits, without trailing zeros.
  function significant(value, digits = 4) {
    if (!Number.isFinite(value)) return number(value);
    return String(Number(value.toPrecision(digits))).replace("-", "−");
  }

  function percent(share) {
    const shown = 100 * share;
    const size = Math.abs(shown);
    const digits = size === 0 || (size >= 10 && size <= 90) || size === 100 ? 0 : size >= 1 ? 1 : 2;
    return `${significant(Number(shown.toFixed(digits)), 6)}%`;
  }

  // Parse typed text; NaN if it is not a number.
  function parse(text) {
    const clean = text.trim().replace("−", "-").replace(",", ".");
    const divisor = clean.endsWith("%") ? 100 : 1;
    const digits = clean.replace(/%$/, "").trim();
    return digits === "" ? NaN : Number(digits) / divisor;
  }

  const shorten = (text, length) =>
    [...text].length > length ? `${[...text].slice(0, length - 1).join("")}…` : text;

  return { count, number, parse, percent, shorten, significant, span };
})();
