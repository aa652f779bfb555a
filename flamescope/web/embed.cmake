# embed: INPUT's bytes as the struct web_file of NAME in OUTPUT
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" n_digits)
math(EXPR n_bytes "${n_digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes
       "${bytes}")
string(MAKE_C_IDENTIFIER ${NAME} identifier)
file(WRITE ${OUTPUT}
"#include \"flamescope/web/web.h\"

static const unsigned char bytes[] = {
${bytes}};
const struct web_file web_${identifier} = {bytes, ${n_bytes}};
")
