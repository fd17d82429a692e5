//! Decimal128: numbers of up to 34 decimal digits.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The exponent of a number is stored with this added.
const BIAS: i32 = 6176;
const MAX_COEFFICIENT: u128 = 10u128.pow(34) - 1;
const INFINITY: u64 = 0x7800 << 48;
const NAN: u64 = 0x7c00 << 48;
const SIGN: u64 = 1 << 63;

/// An IEEE 754 decimal128: up to 34 digits with an exponent of ten. Numbers are equal if their values are: 1.0 and
/// 1.00. The text form is that of decimal arithmetic: `1.50`, `-1E+10`, `NaN`, `Infinity`.
#[derive(Clone, Copy, Default)]
pub struct Decimal128([u64; 2]);

enum Parts {
    Number { coefficient: u128, exponent: i32 },
    Infinity,
    Nan,
}

impl Decimal128 {
    /// The number with these bits, the low half first: binary integer encoding.
    pub const fn from_bits(bits: [u64; 2]) -> Decimal128 {
        Decimal128(bits)
    }

    /// The bits, the low half first.
    pub const fn to_bits(self) -> [u64; 2] {
        self.0
    }

    pub fn is_nan(self) -> bool {
        matches!(self.parts(), Parts::Nan)
    }

    pub fn is_negative(self) -> bool {
        self.0[1] & SIGN != 0
    }

    fn parts(self) -> Parts {
        let [low, high] = self.0;
        if high & NAN == NAN {
            return Parts::Nan;
        }
        if high & NAN == INFINITY {
            return Parts::Infinity;
        }
        // With both highest bits of the combination set the coefficient is beyond 34 digits: it counts as zero.
        if high & (0x6000 << 48) == 0x6000 << 48 {
            return Parts::Number { coefficient: 0, exponent: ((high >> 47) & 0x3fff) as i32 - BIAS };
        }
        let coefficient = u128::from(high & 0x1_ffff_ffff_ffff) << 64 | u128::from(low);
        let coefficient = if coefficient > MAX_COEFFICIENT { 0 } else { coefficient };
        Parts::Number { coefficient, exponent: ((high >> 49) & 0x3fff) as i32 - BIAS }
    }

    fn from_parts(is_negative: bool, coefficient: u128, exponent: i32) -> Decimal128 {
        let high = ((exponent + BIAS) as u64) << 49 | (coefficient >> 64) as u64;
        Decimal128([coefficient as u64, high | if is_negative { SIGN } else { 0 }])
    }

    /// Coefficient without zeros at its end, and exponent; zero has exponent 0.
    fn reduced(mut coefficient: u128, mut exponent: i32) -> (u128, i32) {
        if coefficient == 0 {
            return (0, 0);
        }
        while coefficient % 10 == 0 {
            coefficient /= 10;
            exponent += 1;
        }
        (coefficient, exponent)
    }
}

impl PartialEq for Decimal128 {
    fn eq(&self, other: &Decimal128) -> bool {
        match (self.parts(), other.parts()) {
            (Parts::Infinity, Parts::Infinity) => self.is_negative() == other.is_negative(),
            (
                Parts::Number { coefficient, exponent },
                Parts::Number { coefficient: other_coefficient, exponent: other_exponent },
            ) => {
                let one = Decimal128::reduced(coefficient, exponent);
                let two = Decimal128::reduced(other_coefficient, other_exponent);
                one == two && (one.0 == 0 || self.is_negative() == other.is_negative())
            }
            _ => false,
        }
    }
}

impl From<i64> for Decimal128 {
    fn from(number: i64) -> Decimal128 {
        Decimal128::from_parts(number < 0, u128::from(number.unsigned_abs()), 0)
    }
}

impl fmt::Display for Decimal128 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (coefficient, exponent) = match self.parts() {
            Parts::Nan => return formatter.write_str("NaN"),
            Parts::Infinity => return formatter.write_str(if self.is_negative() { "-Infinity" } else { "Infinity" }),
            Parts::Number { coefficient, exponent } => (coefficient, exponent),
        };
        if self.is_negative() {
            formatter.write_str("-")?;
        }
        let digits = coefficient.to_string();
        let adjusted = exponent + digits.len() as i32 - 1;
        if exponent > 0 || adjusted < -6 {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return write!(formatter, "{first}{point}{rest}E{adjusted:+}");
        }
        if exponent == 0 {
            return formatter.write_str(&digits);
        }
        let places = exponent.unsigned_abs() as usize;
        if digits.len() > places {
            let (whole, part) = digits.split_at(digits.len() - places);
            return write!(formatter, "{whole}.{part}");
        }
        write!(formatter, "0.{digits:0>places$}")
    }
}

impl fmt::Debug for Decimal128 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Decimal128({self})")
    }
}

impl FromStr for Decimal128 {
    type Err = Error;

    /// INVALID_ARGUMENT for a text that is no number, RANGE_ERROR for a number that does not fit exactly.
    fn from_str(text: &str) -> Result<Decimal128> {
        let malformed = || Error::refused(3000, format!("{text:?} is no decimal number"));
        let (is_negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let sign = if is_negative { SIGN } else { 0 };
        if rest.eq_ignore_ascii_case("nan") {
            return Ok(Decimal128([0, NAN]));
        }
        if rest.eq_ignore_ascii_case("infinity") || rest.eq_ignore_ascii_case("inf") {
            return Ok(Decimal128([0, INFINITY | sign]));
        }
        let (number, exponent) = match rest.find(['e', 'E']) {
            Some(place) => (&rest[..place], rest[place + 1..].parse::<i32>().map_err(|_| malformed())?),
            None => (rest, 0),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && part.is_empty() || !whole.bytes().chain(part.bytes()).all(|byte| byte.is_ascii_digit()) {
            return Err(malformed());
        }
        let out_of_range = || Error::refused(1001, format!("{text:?} does not fit into a decimal of 34 digits"));
        let mut exponent = exponent.checked_sub(i32::try_from(part.len()).map_err(|_| out_of_range())?);
        let digits = whole.bytes().chain(part.bytes()).skip_while(|&byte| byte == b'0');
        let mut digits: Vec<u8> = digits.collect();
        while digits.last() == Some(&b'0') && (digits.len() > 34 || exponent.is_some_and(|exponent| exponent < -BIAS)) {
            digits.pop();
            exponent = exponent.and_then(|exponent| exponent.checked_add(1));
        }
        let mut exponent = exponent.ok_or_else(out_of_range)?;
        if digits.len() > 34 {
            return Err(out_of_range());
        }
        let mut coefficient = digits.iter().fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        if coefficient == 0 {
            return Ok(Decimal128::from_parts(is_negative, 0, exponent.clamp(-BIAS, 6111)));
        }
        while exponent > 6111 && coefficient * 10 <= MAX_COEFFICIENT {
            coefficient *= 10;
            exponent -= 1;
        }
        if !(-BIAS..=6111).contains(&exponent) {
            return Err(out_of_range());
        }
        Ok(Decimal128::from_parts(is_negative, coefficient, exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal128;

    #[test]
    fn texts_come_back() {
        for text in ["0", "1", "-1", "1.50", "0.001", "1E+10", "1.5E-10", "NaN", "Infinity", "-Infinity", "-0"] {
            assert_eq!(text.parse::<Decimal128>().unwrap().to_string(), text);
        }
        let most = "9999999999999999999999999999999999";
        assert_eq!(most.parse::<Decimal128>().unwrap().to_string(), most);
        assert_eq!("1E+6144".parse::<Decimal128>().unwrap().to_string(), "1.000000000000000000000000000000000E+6144");
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for text in ["", "x", "1.2.3", "1e", "12345678901234567890123456789012345", "1E+6145", "1E-6177", "+", "."] {
            assert!(text.parse::<Decimal128>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        let of = |text: &str| text.parse::<Decimal128>().unwrap();
        assert_eq!(of("1.0"), of("1.00"));
        assert_eq!(of("0"), of("-0"));
        assert_ne!(of("1"), of("-1"));
        assert_ne!(of("NaN"), of("NaN"));
        assert_eq!(Decimal128::from(i64::MIN).to_string(), i64::MIN.to_string());
    }
}
