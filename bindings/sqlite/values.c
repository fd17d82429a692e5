/* Dates, identifiers and decimals as the texts that SQL sees. */

#include "crealm_sqlite.h"
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* The calendar day for a number of days since 1970-01-01, in the Gregorian calendar. */
static void civil(int64_t days, int64_t* year, int* month, int* day)
{
    int64_t shifted = days + 719468; /* since 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * shifted_month + 2) / 5 + 1);
    *month = (int)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

static char* digits(char* out, int64_t value, int count)
{
    for (int place = count - 1; place >= 0; place--) {
        out[place] = (char)('0' + value % 10);
        value /= 10;
    }
    return out + count;
}

int crealm_date_text(int64_t seconds, int32_t nanoseconds, char* out)
{
    if (nanoseconds < 0) {
        seconds -= 1;
        nanoseconds += 1000000000;
    }
    if (seconds < FIRST_DATE)
        return 0;
    int64_t days = seconds / 86400, rest = seconds % 86400, year;
    if (rest < 0) {
        days -= 1;
        rest += 86400;
    }
    int month, day;
    civil(days, &year, &month, &day);
    char* at = out;
    if (year > 9999) {
        *at++ = '+';
        at = digits(at, year, 12);
    } else {
        at = digits(at, year, 4);
    }
    *at++ = '-';
    at = digits(at, month, 2);
    *at++ = '-';
    at = digits(at, day, 2);
    *at++ = ' ';
    at = digits(at, rest / 3600, 2);
    *at++ = ':';
    at = digits(at, rest / 60 % 60, 2);
    *at++ = ':';
    at = digits(at, rest % 60, 2);
    if (nanoseconds > 0) {
        *at++ = '.';
        at = digits(at, nanoseconds, 9);
        while (at[-1] == '0')
            at--;
    }
    return (int)(at - out);
}

/* Compares texts as SQLite's collation BINARY does. */
static int compare_texts(const char* a, int a_size, const char* b, int b_size)
{
    int common = a_size < b_size ? a_size : b_size;
    int order = common > 0 ? memcmp(a, b, (size_t)common) : 0;
    return order != 0 ? order : a_size - b_size;
}

/* Texts of dates from FIRST_DATE to LAST_DATE have the order of the dates. So a search by halves finds the first date
 * whose text is not below the limit: first its second, then the fraction. */
void crealm_date_limit(const char* limit, int size, realm_timestamp_t* out, bool* is_equal)
{
    char text[DATE_TEXT];
    int64_t low = FIRST_DATE, high = LAST_DATE + 1; /* the last nanosecond of a second decides */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int length = crealm_date_text(middle, 999999999, text);
        if (compare_texts(text, length, limit, size) >= 0)
            high = middle;
        else
            low = middle + 1;
    }
    int32_t from = 0, to = 999999999;
    if (low > LAST_DATE)
        to = 0;
    while (from < to) {
        int32_t middle = from + (to - from) / 2;
        int length = crealm_date_text(low, middle, text);
        if (compare_texts(text, length, limit, size) >= 0)
            to = middle;
        else
            from = middle + 1;
    }
    *is_equal = false;
    if (low <= LAST_DATE) {
        int length = crealm_date_text(low, from, text);
        *is_equal = compare_texts(text, length, limit, size) == 0;
    }
    /* Both members of a timestamp have the same sign. */
    if (low < 0 && from > 0) {
        low += 1;
        from -= 1000000000;
    }
    out->seconds = low;
    out->nanoseconds = from;
}

void crealm_result_date(sqlite3_context* context, int64_t seconds, int32_t nanoseconds)
{
    char text[DATE_TEXT];
    int length = crealm_date_text(seconds, nanoseconds, text);
    if (length == 0)
        sqlite3_result_int64(context, nanoseconds < 0 ? seconds - 1 : seconds);
    else if (text[0] == '+')
        sqlite3_result_blob(context, text, length, SQLITE_TRANSIENT);
    else
        sqlite3_result_text(context, text, length, SQLITE_TRANSIENT);
}

/* The text that the General Decimal Arithmetic specification calls to-scientific-string. */
int crealm_decimal_text(realm_decimal128_t value, char* out)
{
    uint64_t high = value.w[1];
    char* at = out;
    bool is_negative = high >> 63 != 0;
    if ((high >> 58 & 0x1f) == 0x1f) {
        memcpy(out, "NaN", 3);
        return 3;
    }
    if (is_negative)
        *at++ = '-';
    if ((high >> 58 & 0x1f) == 0x1e) {
        memcpy(at, "Infinity", 8);
        return (int)(at - out) + 8;
    }
    unsigned __int128 number = 0;
    int exponent;
    if ((high >> 61 & 3) == 3) {
        exponent = (int)(high >> 47 & 0x3fff) - 6176; /* a coefficient that is too large counts as 0 */
    } else {
        exponent = (int)(high >> 49 & 0x3fff) - 6176;
        number = (unsigned __int128)(high & 0x1ffffffffffffULL) << 64 | value.w[0];
        unsigned __int128 limit = 1;
        for (int place = 0; place < 34; place++)
            limit *= 10;
        if (number >= limit)
            number = 0;
    }
    char coefficient[40];
    int count = 0;
    do {
        coefficient[count++] = (char)('0' + (int)(number % 10));
        number /= 10;
    } while (number > 0);
    int adjusted = exponent + count - 1;
    bool is_plain = exponent <= 0 && adjusted >= -6;
    int point = is_plain ? count + exponent : 1; /* digits before the point */
    if (point <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int zero = point; zero < 0; zero++)
            *at++ = '0';
    }
    for (int index = 0; index < count; index++) {
        if (index == point && index > 0 && point > 0)
            *at++ = '.';
        *at++ = coefficient[count - 1 - index];
    }
    if (!is_plain)
        at += snprintf(at, 8, "E%+d", adjusted);
    return (int)(at - out);
}

static const char hex_digits[] = "0123456789abcdef";

static char* hex(char* out, const uint8_t* bytes, int count)
{
    for (int index = 0; index < count; index++) {
        *out++ = hex_digits[bytes[index] >> 4];
        *out++ = hex_digits[bytes[index] & 15];
    }
    return out;
}

void crealm_object_id_text(const uint8_t* bytes, char* out)
{
    hex(out, bytes, 12);
}

void crealm_uuid_text(const uint8_t* bytes, char* out)
{
    static const int groups[] = {4, 2, 2, 2, 6};
    for (int group = 0; group < 5; group++) {
        if (group > 0)
            *out++ = '-';
        out = hex(out, bytes, groups[group]);
        bytes += groups[group];
    }
}

/* Only lower case, as the columns show it: other spellings are other texts. */
static bool unhex(const char** text, uint8_t* out, int count)
{
    for (int index = 0; index < 2 * count; index++) {
        const char* found = memchr(hex_digits, (*text)[index], 16);
        if (found == NULL)
            return false;
        int digit = (int)(found - hex_digits);
        out[index / 2] = (uint8_t)(index % 2 == 0 ? digit << 4 : out[index / 2] | digit);
    }
    *text += 2 * count;
    return true;
}

bool crealm_parse_object_id(const char* text, int size, uint8_t* out)
{
    return size == 24 && unhex(&text, out, 12);
}

bool crealm_parse_uuid(const char* text, int size, uint8_t* out)
{
    if (size != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
        return false;
    static const int groups[] = {4, 2, 2, 2, 6};
    for (int group = 0; group < 5; group++) {
        if (group > 0)
            text++;
        if (!unhex(&text, out, groups[group]))
            return false;
        out += groups[group];
    }
    return true;
}

bool crealm_is_utf8(const char* text, int size)
{
    const uint8_t* at = (const uint8_t*)text;
    const uint8_t* end = at + size;
    while (at < end) {
        uint8_t first = *at++;
        if (first < 0x80)
            continue;
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4 || end - at < more)
            return false;
        uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        for (; more > 0; more--, least = 0x80, most = 0xbf) {
            if (*at < least || *at > most)
                return false;
            at++;
        }
    }
    return true;
}

bool crealm_link_value(const realm_t* realm, realm_link_t link, realm_value_t* out)
{
    bool has_primary = false;
    realm_property_info_t primary;
    if (!realm_find_primary_key_property(realm, link.target_table, &has_primary, &primary))
        return false;
    if (!has_primary) {
        out->type = RLM_TYPE_INT;
        out->integer = link.target;
        return true;
    }
    realm_object_t* object = realm_get_object(realm, link.target_table, link.target);
    if (object == NULL)
        return false;
    bool is_read = realm_get_value(object, primary.key, out);
    realm_release(object);
    return is_read;
}
