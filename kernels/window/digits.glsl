// Takes the digit of a dimension off an index.
uint takeDigit(inout uint rest, uvec4 size) {
  const uint quotient = divideBy(rest, size);
  const uint digit = rest - quotient * size.x;
  rest = quotient;
  return digit;
}
