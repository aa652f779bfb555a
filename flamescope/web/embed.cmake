# embed: INPUT's bytes as C arrays in OUTPUT
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" n_digits)
math(EXPR n_bytes "${n_digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
       "${bytes}")
string(MAKE_C_IDENTIFIER ${NAME} identifier)
# The zero at the end is not counted: it lets a file be empty, and be printed.
file(WRITE ${OUTPUT}
"#include <stddef.h>
extern const unsigned char web_bytes_${identifier}[];
extern const size_t web_n_bytes_${identifier};
const unsigned char web_bytes_${identifier}[] = {
${bytes}0};
const size_t web_n_bytes_${identifier} = ${n_bytes};
")
