//! The rows that queries find.

use std::fmt;
use std::marker::PhantomData;

use crealm_sys as sys;

use crate::error::{Error, Result};
use crate::fields::Row;
use crate::model::{Link, Property, RealmObject};
use crate::raw::{c_text, check, Handle, NULL_VALUE};
use crate::reader::Reader;
use crate::schema::Binding;
use crate::values::{with_arguments, AnyLink, Argument, Value, ValueRef};

/// The most rows that one call reads.
const PAGE: usize = 256;

/// Objects of the class of `T`: all, those that a query found, those of a list. They are read when they are asked for,
/// in pages of up to 256 rows. Sorting, limiting and further conditions make new results.
pub struct Results<'r, T> {
    rows: AnyResults<'r>,
    marker: PhantomData<fn() -> T>,
}

/// Rows of a class without a type, or values of a collection.
pub struct AnyResults<'r> {
    pub(crate) reader: &'r Reader,
    pub(crate) handle: Handle<sys::realm_results_t>,
    /// The class of the objects; None for values.
    class: Option<u32>,
}

/// The functions over all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    Minimum,
    Maximum,
    Sum,
    Average,
}

// SAFETY of the calls here: the handles are valid; texts and arguments live until the end of the call.
impl<'r> AnyResults<'r> {
    pub(crate) fn of_handle(
        reader: &'r Reader,
        handle: Handle<sys::realm_results_t>,
        class: Option<u32>,
    ) -> AnyResults<'r> {
        AnyResults { reader, handle, class }
    }

    pub(crate) fn of_query(
        reader: &'r Reader,
        query: &Handle<sys::realm_query_t>,
        class: Option<u32>,
    ) -> Result<AnyResults<'r>> {
        let handle = Handle::from(unsafe { sys::realm_query_find_all(query.get()) })?;
        Ok(AnyResults::of_handle(reader, handle, class))
    }

    fn derived(&self, made: *mut sys::realm_results_t) -> Result<AnyResults<'r>> {
        Ok(AnyResults::of_handle(self.reader, Handle::from(made)?, self.class))
    }

    pub(crate) fn class(&self) -> Option<u32> {
        self.class
    }

    /// How many rows there are.
    pub fn len(&self) -> Result<usize> {
        let mut count = 0;
        check(unsafe { sys::realm_results_count(self.handle.get(), &mut count) })?;
        Ok(count)
    }

    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The rows that meet another condition, too. An empty text is none.
    pub fn filter(self, text: &str, arguments: &[Argument<'_>]) -> Result<AnyResults<'r>> {
        if text.is_empty() {
            return Ok(self);
        }
        let text = c_text(text)?;
        let query = Handle::from(with_arguments(arguments, |count, list| unsafe {
            sys::realm_query_parse_for_results(self.handle.get(), text.as_ptr(), count, list)
        }))?;
        AnyResults::of_query(self.reader, &query, self.class)
    }

    /// The rows in another order: `"age DESC, friend.name ASC"`.
    pub fn sort(&self, order: &str) -> Result<AnyResults<'r>> {
        let order = c_text(order)?;
        self.derived(unsafe { sys::realm_results_sort(self.handle.get(), order.as_ptr()) })
    }

    /// The first of the rows that are equal in these properties: `"city, age"`.
    pub fn distinct(&self, properties: &str) -> Result<AnyResults<'r>> {
        let properties = c_text(properties)?;
        self.derived(unsafe { sys::realm_results_distinct(self.handle.get(), properties.as_ptr()) })
    }

    /// The first rows.
    pub fn limit(&self, most: usize) -> Result<AnyResults<'r>> {
        self.derived(unsafe { sys::realm_results_limit(self.handle.get(), most) })
    }

    /// The value in a row: for objects their address.
    pub fn get(&self, index: usize) -> Result<ValueRef<'r>> {
        let mut raw = NULL_VALUE;
        check(unsafe { sys::realm_results_get(self.handle.get(), index, &mut raw) })?;
        unsafe { ValueRef::from_raw(&raw) }
    }

    /// The addresses of all objects.
    pub fn links(&self) -> Result<Vec<AnyLink>> {
        let count = self.len()?;
        let mut links = vec![sys::realm_link_t { target_table: 0, target: -1 }; count];
        let mut found = 0;
        let none = std::ptr::null();
        check(unsafe {
            let (handle, values) = (self.handle.get(), std::ptr::null_mut());
            sys::crealm_results_fetch(handle, 0, count, none, 0, values, links.as_mut_ptr(), &mut found)
        })?;
        links.truncate(found);
        Ok(links.into_iter().map(AnyLink::from_raw).collect())
    }

    /// A function over all rows. `property` is the name of a property of objects; "" for values. None if no row has a
    /// value for it.
    pub fn aggregate(&self, function: Aggregate, property: &str) -> Result<Option<Value>> {
        let key = match self.class {
            Some(class) => self.reader.index().class_of(class)?.required(property)?.key,
            None => 0,
        };
        self.aggregate_by_key(function, key)
    }

    fn aggregate_by_key(&self, function: Aggregate, key: i64) -> Result<Option<Value>> {
        let (mut raw, mut found) = (NULL_VALUE, false);
        let call = match function {
            Aggregate::Minimum => sys::realm_results_min,
            Aggregate::Maximum => sys::realm_results_max,
            Aggregate::Sum => sys::realm_results_sum,
            Aggregate::Average => sys::realm_results_average,
        };
        check(unsafe { call(self.handle.get(), key, &mut raw, &mut found) })?;
        let value = unsafe { ValueRef::from_raw(&raw) }?.to_value();
        Ok(Some(value).filter(|value| *value != Value::Null))
    }
}

impl<'r, T: RealmObject> Results<'r, T> {
    pub(crate) fn of_handle(reader: &'r Reader, handle: Handle<sys::realm_results_t>) -> Result<Results<'r, T>> {
        let class = Some(reader.index().binding::<T>()?.class);
        Ok(Results { rows: AnyResults::of_handle(reader, handle, class), marker: PhantomData })
    }

    pub(crate) fn of_query(reader: &'r Reader, query: &Handle<sys::realm_query_t>) -> Result<Results<'r, T>> {
        let class = Some(reader.index().binding::<T>()?.class);
        Ok(Results { rows: AnyResults::of_query(reader, query, class)?, marker: PhantomData })
    }

    pub(crate) fn handle(&self) -> *mut sys::realm_results_t {
        self.rows.handle.get()
    }

    pub(crate) fn any(&self) -> &AnyResults<'r> {
        &self.rows
    }

    fn binding(&self) -> Result<&'r Binding> {
        self.rows.reader.index().binding::<T>()
    }

    /// How many rows there are.
    pub fn len(&self) -> Result<usize> {
        self.rows.len()
    }

    pub fn is_empty(&self) -> Result<bool> {
        self.rows.is_empty()
    }

    /// The rows that meet another condition, too. Their order stays that of these results only if the text sorts them.
    pub fn filter(self, text: &str, arguments: &[Argument<'_>]) -> Result<Results<'r, T>> {
        Ok(Results { rows: self.rows.filter(text, arguments)?, marker: PhantomData })
    }

    /// The rows in another order: `"age DESC, friend.name ASC"`, with the names in the file.
    pub fn sort(&self, order: &str) -> Result<Results<'r, T>> {
        Ok(Results { rows: self.rows.sort(order)?, marker: PhantomData })
    }

    /// The first of the rows that are equal in these properties: `"city, age"`.
    pub fn distinct(&self, properties: &str) -> Result<Results<'r, T>> {
        Ok(Results { rows: self.rows.distinct(properties)?, marker: PhantomData })
    }

    /// The first rows.
    pub fn limit(&self, most: usize) -> Result<Results<'r, T>> {
        Ok(Results { rows: self.rows.limit(most)?, marker: PhantomData })
    }

    /// The object in a row: INDEX_OUT_OF_BOUNDS beyond the last.
    pub fn get(&self, index: usize) -> Result<T::Ref<'r>> {
        match self.first_from(index)? {
            Some(object) => Ok(object),
            None => Err(Error::refused(sys::RLM_ERR_INDEX_OUT_OF_BOUNDS as i32, format!("no row {index}"))),
        }
    }

    /// The object in the first row.
    pub fn first(&self) -> Result<Option<T::Ref<'r>>> {
        self.first_from(0)
    }

    fn first_from(&self, index: usize) -> Result<Option<T::Ref<'r>>> {
        let mut page = Page::new(self.binding()?, 1);
        page.fill(self, index)?;
        page.next::<T>(self.rows.reader).transpose()
    }

    /// The address of the object in each row.
    pub fn links(&self) -> Result<Vec<Link<T>>> {
        let links = self.rows.links()?;
        Ok(links.into_iter().map(|link| Link::from_raw(link.raw())).collect())
    }

    /// The objects, in pages of up to 256 rows. After an error the iterator ends.
    pub fn iter(&self) -> Rows<'_, 'r, T> {
        let binding = self.binding();
        let (page, failed) = match binding {
            Ok(binding) => (Some(Page::new(binding, PAGE)), None),
            Err(error) => (None, Some(error)),
        };
        Rows { results: self, page, failed, next: 0 }
    }

    /// Copies of all objects.
    pub fn load(&self) -> Result<Vec<T>> {
        self.iter().map(|object| T::load(&object?)).collect()
    }

    /// The sum of a property over all rows; 0 of its type if no row has a number.
    pub fn sum<F>(&self, property: Property<T, F>) -> Result<Value> {
        Ok(self.aggregate(Aggregate::Sum, property)?.unwrap_or(Value::Int(0)))
    }

    /// The smallest value of a property; None if no row has one.
    pub fn min<F>(&self, property: Property<T, F>) -> Result<Option<Value>> {
        self.aggregate(Aggregate::Minimum, property)
    }

    /// The largest value of a property; None if no row has one.
    pub fn max<F>(&self, property: Property<T, F>) -> Result<Option<Value>> {
        self.aggregate(Aggregate::Maximum, property)
    }

    /// The mean of a property; None if no row has a number.
    pub fn average<F>(&self, property: Property<T, F>) -> Result<Option<Value>> {
        self.aggregate(Aggregate::Average, property)
    }

    fn aggregate<F>(&self, function: Aggregate, property: Property<T, F>) -> Result<Option<Value>> {
        self.rows.aggregate_by_key(function, self.binding()?.keys[property.index])
    }
}

impl<T> fmt::Debug for Results<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Results")
    }
}

/// Values of some rows, which one call read.
struct Page<'r> {
    binding: &'r Binding,
    values: Vec<sys::realm_value_t>,
    links: Vec<sys::realm_link_t>,
    count: usize,
    next: usize,
}

impl<'r> Page<'r> {
    fn new(binding: &'r Binding, rows: usize) -> Page<'r> {
        let values = vec![NULL_VALUE; rows * binding.plain.len()];
        let links = vec![sys::realm_link_t { target_table: 0, target: -1 }; rows];
        Page { binding, values, links, count: 0, next: 0 }
    }

    fn fill<T: RealmObject>(&mut self, results: &Results<'_, T>, first: usize) -> Result<()> {
        let keys = &self.binding.plain;
        self.next = 0;
        check(unsafe {
            sys::crealm_results_fetch(
                results.handle(),
                first,
                self.links.len(),
                keys.as_ptr(),
                keys.len(),
                self.values.as_mut_ptr(),
                self.links.as_mut_ptr(),
                &mut self.count,
            )
        })
    }

    #[inline]
    fn next<T: RealmObject>(&mut self, reader: &'r Reader) -> Option<Result<T::Ref<'r>>> {
        if self.next == self.count {
            return None;
        }
        let width = self.binding.plain.len();
        let values = &self.values[self.next * width..][..width];
        let object = self.links[self.next];
        self.next += 1;
        Some(T::read(Row { reader, object, keys: &self.binding.keys, values: values.iter() }))
    }
}

/// The iterator over the objects of results.
pub struct Rows<'a, 'r, T> {
    results: &'a Results<'r, T>,
    page: Option<Page<'r>>,
    failed: Option<Error>,
    next: usize,
}

impl<'r, T: RealmObject> Iterator for Rows<'_, 'r, T> {
    type Item = Result<T::Ref<'r>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let page = match &mut self.page {
            Some(page) => page,
            None => return self.failed.take().map(Err),
        };
        if page.next == page.count {
            if let Err(error) = page.fill(self.results, self.next) {
                self.page = None;
                return Some(Err(error));
            }
            self.next += page.count;
        }
        page.next::<T>(self.results.rows.reader)
    }
}

impl<'a, 'r, T: RealmObject> IntoIterator for &'a Results<'r, T> {
    type Item = Result<T::Ref<'r>>;
    type IntoIter = Rows<'a, 'r, T>;

    fn into_iter(self) -> Rows<'a, 'r, T> {
        self.iter()
    }
}
